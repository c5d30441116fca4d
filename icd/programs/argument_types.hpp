// Sizes of kernel argument types by the name that the driver reports (CL_KERNEL_ARG_TYPE_NAME). Pure; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/wire/calls.hpp"

namespace fairgv::icd {

/// The kind of value that clSetKernelArg expects for an argument.
enum class ArgumentClass {
  memory,   // a pointer to global or constant memory: a cl_mem
  local,    // a pointer to local memory: a size
  value,    // anything passed by value
  image,    // an image: a cl_mem
  sampler,  // a cl_sampler
  pipe,     // a pipe: a cl_mem
  unknown,  // the driver has no argument info: the application's value decides
};

struct ArgumentType {
  ArgumentClass kind = ArgumentClass::unknown;
  std::uint64_t bytes = 0;  // of a value; 0 if the type is the program's own (a struct, a typedef)
};

/// Bytes of a built-in scalar or vector type of OpenCL C ("uint", "unsigned int", "float3"...); nothing for
/// any other name. A vector of 3 elements takes as much as a vector of 4 (OpenCL C 3.0, 6.3.5).
std::optional<std::uint64_t> builtin_type_bytes(std::string_view name);

ArgumentType classify(const wire::KernelArgument& argument);

}  // namespace fairgv::icd
