// Kernel launches, checked and put into calls (OpenCL 3.0, clEnqueueNDRangeKernel): the same for a queue and
// for a command buffer. Any thread.
#pragma once

#include <cstddef>

#include "icd/device.hpp"
#include "icd/kernel.hpp"
#include "icd/queue.hpp"

namespace fairgv::icd {

/// As given to clEnqueueNDRangeKernel; the pointers have `dimensions` elements or are null.
struct IndexSpace {
  cl_uint dimensions = 0;
  const size_t* offset = nullptr;
  const size_t* global = nullptr;
  const size_t* local = nullptr;

  /// Nothing to run: the command only takes its place among the others (OpenCL 2.1 and later).
  bool is_empty() const;
};

/// CL_SUCCESS, or the error that the specification names. Pure.
cl_int check_index_space(const IndexSpace& space, const DeviceFacts& device, const KernelLimits& kernel);

/// The same for a launch of the kernel on the queue's device, which may ask the worker for the kernel's
/// limits.
cl_int check_launch(const Queue& queue, Kernel& kernel, const IndexSpace& space);

/// The launch's call, but for its command and its arguments (Kernel::send_changes()).
wire::EnqueueKernel make_launch(const Kernel& kernel, const IndexSpace& space);

}  // namespace fairgv::icd
