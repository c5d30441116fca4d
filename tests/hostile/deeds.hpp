// Kernels that take the worker's side of the turn protocol into their own hands. On a CPU device they run in
// the worker, with its descriptors: the turn page, and the eventfd by which it knocks.
//
//   hold      only computes, in a kernel that cannot be cut: its program is killed in it
//   outside   gives the turn back at once, and computes on without one
//   forge     takes turn after turn by itself, and never reports its use
//   sleep     the same, and keeps the device without computing
//   freeze    lets reads of the eventfd block, and reads the knocks away
//
// For the program rogue, and for hostile sessions. A DeedRunner belongs to one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

#include "tests/workloads/support/device.hpp"

namespace fairgv::hostile {

struct Deed {
  const char* name;
  const char* kernel;
  const char* definition;   // goes before the kernel
  std::size_t work_groups;  // of one work-item each
};

std::span<const Deed> deeds();

/// None of that name: nullptr.
const Deed* find_deed(std::string_view name);

/// Whether kernels on the device are code of the worker's process; elsewhere the deeds cannot be done.
bool runs_on_the_host(const workloads::Device& device);

class DeedRunner {
 public:
  /// Builds the deed so that each kernel takes so long. Throws ClError.
  DeedRunner(const Deed& deed, std::chrono::milliseconds each, workloads::Device device);

  /// Launches the kernel and waits for it. Throws ClError, as when the session is lost.
  void commit();

 private:
  std::size_t work_groups_;
  workloads::Device device_;
  workloads::Program program_;
  workloads::Kernel kernel_;
  workloads::Buffer out_;
  workloads::Queue queue_;
};

}  // namespace fairgv::hostile
