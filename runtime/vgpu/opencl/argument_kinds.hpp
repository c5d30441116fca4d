// The values that a kernel's arguments may be given, by the types that the driver reports. A driver takes
// eight bytes in the place of a handle for the handle.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <vector>

#include "runtime/wire/calls/kernels.hpp"

namespace fairgv::vgpu::opencl {

enum class Takes : std::uint8_t {
  anything,  // the driver does not say
  memory,    // a buffer, shared virtual memory, or null
  local,     // a size of local memory
  value,
  image,
  sampler,
  pipe,
};

/// One for each argument of a kernel that the driver has made.
std::vector<Takes> argument_kinds(cl_kernel kernel, std::uint32_t argument_count);

/// Whether the kernel cannot write the memory of the argument: it is constant or a read-only image, or its
/// type points to const. False also if the driver does not say.
bool only_reads(cl_kernel kernel, std::uint32_t index);

bool may_be_given(Takes takes, wire::ArgumentKind kind);

}  // namespace fairgv::vgpu::opencl
