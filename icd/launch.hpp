// Checking the index space of a kernel launch (OpenCL 3.0, clEnqueueNDRangeKernel). Pure; any thread.
#pragma once

#include <cstddef>

#include "icd/device.hpp"
#include "icd/kernel.hpp"

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

/// CL_SUCCESS, or the error that the specification names.
cl_int check_index_space(const IndexSpace& space, const DeviceFacts& device, const KernelLimits& kernel);

}  // namespace fairgv::icd
