// What the worker's program uses of the CUDA back end, without CUDA's headers: a build without the toolkit
// has it, too, and says so when a program of CUDA comes.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/dispatch.hpp"
#include "runtime/vgpu/issue/executor.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/vgpu/opencl/driver.hpp"

namespace fairgv::vgpu::cuda {

struct WorkerSettings {
  bool slicing = true;                  // modules are loaded so that their launches can run in parts
  std::set<std::string> never_slice{};  // functions whose launches must run whole
  MemoryAccount* memory = nullptr;      // outlives all commands; none: memory is not counted
  std::uint32_t object_limit = 0;       // objects that the program may have at a time
};

/// A CUDA driver and its devices.
class Worker {
 public:
  /// Loads the first driver of `libraries` that has a device, or else one that has none; `opencl` may be
  /// null. An Error as one line if none can be used.
  static Result<std::unique_ptr<Worker>> open(const std::vector<std::string>& libraries,
                                              const opencl::Driver* opencl);
  virtual ~Worker() = default;

  /// What the topology has behind the devices of OpenCL.
  virtual const std::vector<session::DeviceDescription>& more_devices() const = 0;
  /// Whether all its devices are the host's own CPU.
  virtual bool is_host() const = 0;
  /// The back end of one session. This, the segment and the executor outlive it.
  virtual std::unique_ptr<CallHandler> serve(const ring::Segment& segment, Executor& executor,
                                             WorkerSettings settings) = 0;
};

}  // namespace fairgv::vgpu::cuda
