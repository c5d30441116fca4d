// Kernel launches, checked and put into calls (OpenCL 3.0, clEnqueueNDRangeKernel): the same for a queue and
// for a command buffer. Any thread.
#pragma once

#include <cstddef>

#include "icd/objects/device.hpp"
#include "icd/objects/queue.hpp"
#include "icd/programs/kernel.hpp"

namespace fairgv::icd {

/// As given to clEnqueueNDRangeKernel; the pointers have `dimensions` elements or are null.
struct IndexSpace {
  cl_uint dimensions = 0;
  const size_t* offset = nullptr;
  const size_t* global = nullptr;
  const size_t* local = nullptr;

  /// Nothing to run: the command only takes its place among the other commands (OpenCL 2.1 and later).
  bool is_empty() const;
};

/// Not a CL code: the specification leaves the decision to the driver.
inline constexpr cl_int kDriverDecides = 1;

/// CL_SUCCESS for a launch that every driver takes, the error if the specification leaves drivers no choice,
/// or kDriverDecides. `local_bytes`: bytes of the kernel's arguments in local memory. Pure.
cl_int check_index_space(const IndexSpace& space, const DeviceFacts& device, const KernelLimits& kernel,
                         std::uint64_t local_bytes);

/// The same for a launch of the kernel on the queue's device, with the driver's answer where the driver
/// decides. Asks the worker for the kernel's limits at its first launch, and for the driver's answer at the
/// first launch of every unusual shape.
cl_int check_launch(const Queue& queue, Kernel& kernel, const IndexSpace& space);

/// The question whether the driver takes the launch.
wire::CheckLaunch make_question(const Queue& queue, const Kernel& kernel, const IndexSpace& space);

/// The launch's call, but for its command and its arguments (Kernel::send_changes()).
wire::EnqueueKernel make_launch(const Kernel& kernel, const IndexSpace& space);

}  // namespace fairgv::icd
