#include "runtime/vgpu/opencl/argument_kinds.hpp"

#include <string>
#include <string_view>

#include "runtime/vgpu/opencl/driver/driver.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// The name of a type without the words that do not make another type of it.
std::string_view bare_name(std::string_view name) {
  for (const std::string_view word : {"const ", "volatile ", "restrict ", "__private ", "private "}) {
    if (name.starts_with(word)) return bare_name(name.substr(word.size()));
  }
  return name;
}

Takes kind_of(cl_kernel kernel, cl_uint index) {
  cl_kernel_arg_address_qualifier address = 0;
  cl_kernel_arg_type_qualifier qualifiers = 0;
  const auto get = [&](cl_kernel_arg_info param, auto& value) {
    return clGetKernelArgInfo(kernel, index, param, sizeof(value), &value, nullptr) == CL_SUCCESS;
  };
  if (!get(CL_KERNEL_ARG_ADDRESS_QUALIFIER, address) || !get(CL_KERNEL_ARG_TYPE_QUALIFIER, qualifiers)) {
    return Takes::anything;
  }
  const std::string name = get_string([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, size, value, size_ret);
  });
  const std::string_view type = bare_name(name);
  if (type.empty()) return Takes::anything;
  if (type.starts_with("image") && type.find("_t") != type.npos) return Takes::image;
  if (type == "sampler_t") return Takes::sampler;
  if ((qualifiers & CL_KERNEL_ARG_TYPE_PIPE) != 0) return Takes::pipe;
  switch (address) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      return Takes::memory;
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      return Takes::local;
    default:
      return Takes::value;
  }
}

}  // namespace

std::vector<Takes> argument_kinds(cl_kernel kernel, std::uint32_t argument_count) {
  std::vector<Takes> kinds;
  for (cl_uint index = 0; index < argument_count; ++index) kinds.push_back(kind_of(kernel, index));
  return kinds;
}

bool only_reads(cl_kernel kernel, std::uint32_t index) {
  const auto get = [&](cl_kernel_arg_info param, auto value) {
    return clGetKernelArgInfo(kernel, index, param, sizeof(value), &value, nullptr) == CL_SUCCESS ? value : 0;
  };
  if (get(CL_KERNEL_ARG_ACCESS_QUALIFIER, cl_kernel_arg_access_qualifier{}) == CL_KERNEL_ARG_ACCESS_READ_ONLY)
    return true;
  const auto address = get(CL_KERNEL_ARG_ADDRESS_QUALIFIER, cl_kernel_arg_address_qualifier{});
  const auto type = get(CL_KERNEL_ARG_TYPE_QUALIFIER, cl_kernel_arg_type_qualifier{});
  return address == CL_KERNEL_ARG_ADDRESS_CONSTANT || (type & CL_KERNEL_ARG_TYPE_CONST) != 0;
}

bool may_be_given(Takes takes, wire::ArgumentKind kind) {
  using wire::ArgumentKind;
  switch (takes) {
    case Takes::anything:
      return true;
    case Takes::memory:
      return kind == ArgumentKind::memory || kind == ArgumentKind::null_memory || kind == ArgumentKind::svm;
    case Takes::local:
      return kind == ArgumentKind::local;
    case Takes::value:
      return kind == ArgumentKind::value;
    case Takes::image:
      return kind == ArgumentKind::image;
    case Takes::sampler:
      return kind == ArgumentKind::sampler;
    case Takes::pipe:
      return kind == ArgumentKind::pipe;
  }
  return false;
}

}  // namespace fairgv::vgpu::opencl
