// Whether the session's launches can be stopped between the making of their code and their run
// (runtime/opencl/code_gate.hpp): tried once for each device of the topology, whose sub-devices are like it.
//
// The try waits for a command, and the thread of the driver that it needs may be the one that holds a launch
// at its gate: that of a sub-device, or the only one. The loop thread opens the gates, and it is the one that
// would wait: nothing is tried while a gate is closed. The loop thread's.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <unordered_map>

#include "runtime/vgpu/opencl/handles.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu::opencl {

class Gates {
 public:
  /// For launches on a `device` of the context that is `root` or a part of it. False also if that is not
  /// known and cannot be tried now.
  bool hold(wire::DeviceIndex root, cl_context context, cl_device_id device) {
    if (const auto known = known_.find(root); known != known_.end()) return known->second;
    if (closed_ != 0) return false;
    return known_[root] = gate_holds(context, device);
  }

  /// A launch is on its way to its gate, or waits there; and its gate is opened.
  void close() { ++closed_; }
  void open() { --closed_; }

 private:
  std::unordered_map<wire::DeviceIndex, bool> known_;
  std::uint64_t closed_ = 0;
};

}  // namespace fairgv::vgpu::opencl
