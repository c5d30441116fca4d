// Queries: the driver's answers, passed on as they are.
#include <fmt/core.h>

#include <cstring>
#include <numeric>
#include <span>
#include <string>

#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

wire::InfoReply program_info(cl_program program, cl_program_info param) {
  return get_info([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetProgramInfo(program, param, size, value, size_ret);
  });
}

/// CL_PROGRAM_BINARIES wants an array of places to write to.
wire::InfoReply program_binaries(cl_program program) {
  wire::InfoReply reply = program_info(program, CL_PROGRAM_BINARY_SIZES);
  if (reply.error != CL_SUCCESS) return reply;
  std::vector<std::size_t> sizes(reply.value.size() / sizeof(std::size_t));
  std::memcpy(sizes.data(), reply.value.data(), sizes.size() * sizeof(std::size_t));

  reply.value.assign(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), std::byte{0});
  std::vector<std::byte*> places;
  std::byte* next = reply.value.data();
  for (const std::size_t size : sizes) {
    places.push_back(size != 0 ? next : nullptr);
    next += size;
  }
  reply.error = clGetProgramInfo(program, CL_PROGRAM_BINARIES, places.size() * sizeof(places[0]),
                                 places.data(), nullptr);
  if (reply.error != CL_SUCCESS) reply.value.clear();
  return reply;
}

/// Rewrites the driver's build log for the program, which has its headers elsewhere.
void adapt_log(std::vector<std::byte>& log, const IncludeFailure* failure) {
  std::string text;
  const int code = failure != nullptr ? failure->load(std::memory_order_relaxed) : 0;
  if (code != 0) {
    text = fmt::format(
        "fairgv: the headers of this build could not be laid out for the driver: {} (a worker keeps them in "
        "its /tmp, or in `cache` of [worker])\n",
        std::strerror(code));
  }
  text += with_programs_paths({reinterpret_cast<const char*>(log.data()), log.size()});
  const auto bytes = std::as_bytes(std::span(text));
  log.assign(bytes.begin(), bytes.end());
}

std::string kernel_string(cl_kernel kernel, cl_kernel_info param) {
  return get_string([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetKernelInfo(kernel, param, size, value, size_ret);
  });
}

std::string argument_string(cl_kernel kernel, cl_uint index, cl_kernel_arg_info param) {
  return get_string([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetKernelArgInfo(kernel, index, param, size, value, size_ret);
  });
}

/// CL_SUCCESS, or CL_KERNEL_ARG_INFO_NOT_AVAILABLE.
cl_int describe_argument(cl_kernel kernel, cl_uint index, wire::KernelArgument& argument) {
  const auto get = [&](cl_kernel_arg_info param, auto& value) {
    return clGetKernelArgInfo(kernel, index, param, sizeof(value), &value, nullptr);
  };
  const cl_int error = get(CL_KERNEL_ARG_ADDRESS_QUALIFIER, argument.address_qualifier);
  if (error != CL_SUCCESS) return error;
  get(CL_KERNEL_ARG_ACCESS_QUALIFIER, argument.access_qualifier);
  get(CL_KERNEL_ARG_TYPE_QUALIFIER, argument.type_qualifier);
  argument.type_name = argument_string(kernel, index, CL_KERNEL_ARG_TYPE_NAME);
  argument.name = argument_string(kernel, index, CL_KERNEL_ARG_NAME);
  return CL_SUCCESS;
}

wire::KernelDescription describe(cl_kernel kernel) {
  wire::KernelDescription description;
  description.name = kernel_string(kernel, CL_KERNEL_FUNCTION_NAME);
  description.attributes = kernel_string(kernel, CL_KERNEL_ATTRIBUTES);
  clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(description.argument_count), &description.argument_count,
                  nullptr);
  description.has_argument_info = 1;
  for (cl_uint i = 0; i < description.argument_count; ++i) {
    wire::KernelArgument argument;
    if (describe_argument(kernel, i, argument) != CL_SUCCESS) {
      description.has_argument_info = 0;
      description.arguments.clear();
      break;
    }
    description.arguments.push_back(std::move(argument));
  }
  return description;
}

using SubGroupFunction = decltype(&clGetKernelSubGroupInfo);

/// OpenCL 2.1's function, or the extension's (which is the same) before that; null if there is neither.
SubGroupFunction sub_group_function(const Platform& platform) {
  if (platform.is_2_1) return &clGetKernelSubGroupInfo;
  return reinterpret_cast<SubGroupFunction>(
      clGetExtensionFunctionAddressForPlatform(platform.id, "clGetKernelSubGroupInfoKHR"));
}

}  // namespace

Result<cl_device_id> Handlers::device(wire::DeviceIndex index) const {
  FAIRGV_TRY(ids, driver_.ids(std::span(&index, 1)));
  return ids.value().front();
}

Result<wire::TopologyReply> Handlers::handle(const wire::GetTopology&) {
  wire::TopologyReply reply;
  reply.platform_count = static_cast<std::uint32_t>(driver_.platforms().size());
  for (const Device& device : driver_.root_devices()) reply.devices.push_back({device.known_on, device.type});
  reply.at_wanted_address = segment_.at_wanted_address() ? 1 : 0;
  return reply;
}

Result<wire::InfoReply> Handlers::handle(const wire::GetPlatformInfo& call) {
  if (call.platform >= driver_.platforms().size()) {
    return Error{fmt::format("platform {} of {} does not exist", call.platform, driver_.platforms().size())};
  }
  return get_info([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetPlatformInfo(driver_.platforms()[call.platform].id, call.param, size, value, size_ret);
  });
}

Result<wire::InfoReply> Handlers::handle(const wire::GetDeviceInfo& call) {
  FAIRGV_TRY(id, device(call.device));
  return get_info([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetDeviceInfo(id.value(), call.param, size, value, size_ret);
  });
}

Result<wire::InfoReply> Handlers::handle(const wire::GetProgramBuildInfo& call) {
  FAIRGV_TRY(program, this->program(call.program));
  FAIRGV_TRY(id, device(call.device));
  if (program.value()->error != CL_SUCCESS) return wire::InfoReply{program.value()->error, {}};
  auto reply = get_info([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetProgramBuildInfo(program.value()->handle.get(), id.value(), call.param, size, value,
                                 size_ret);
  });
  if (call.param == CL_PROGRAM_BUILD_LOG && reply.error == CL_SUCCESS) {
    adapt_log(reply.value, program.value()->include_failure.get());
  }
  return reply;
}

Result<wire::InfoReply> Handlers::handle(const wire::GetProgramInfo& call) {
  FAIRGV_TRY(program, this->program(call.program));
  if (program.value()->error != CL_SUCCESS) return wire::InfoReply{program.value()->error, {}};
  const cl_program handle = program.value()->handle.get();
  return call.param == CL_PROGRAM_BINARIES ? program_binaries(handle) : program_info(handle, call.param);
}

Result<wire::KernelsReply> Handlers::handle(const wire::DescribeKernels& call) {
  FAIRGV_TRY(program, this->program(call.program));
  wire::KernelsReply reply;
  reply.error = program.value()->error;
  if (reply.error != CL_SUCCESS) return reply;

  cl_uint count = 0;
  reply.error = clCreateKernelsInProgram(program.value()->handle.get(), 0, nullptr, &count);
  std::vector<cl_kernel> kernels(count);
  if (reply.error == CL_SUCCESS && count != 0) {
    reply.error = clCreateKernelsInProgram(program.value()->handle.get(), count, kernels.data(), nullptr);
  }
  if (reply.error != CL_SUCCESS) return reply;
  for (const cl_kernel kernel : kernels) {
    const KernelHandle owner(kernel);
    reply.kernels.push_back(describe(kernel));
  }
  return reply;
}

Result<wire::InfoReply> Handlers::handle(const wire::GetKernelWorkGroupInfo& call) {
  FAIRGV_TRY(kernel, objects_.get<Kernel>(call.kernel));
  FAIRGV_TRY(id, device(call.device));
  if (kernel.value()->error != CL_SUCCESS) return wire::InfoReply{kernel.value()->error, {}};
  // Local memory given as an argument counts.
  if (call.param == CL_KERNEL_LOCAL_MEM_SIZE) kernel.value()->apply_arguments();
  return get_info([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetKernelWorkGroupInfo(kernel.value()->handle.get(), id.value(), call.param, size, value,
                                    size_ret);
  });
}

Result<wire::InfoReply> Handlers::handle(const wire::GetKernelSubGroupInfo& call) {
  FAIRGV_TRY(kernel, objects_.get<Kernel>(call.kernel));
  FAIRGV_TRY(id, device(call.device));
  if (call.output_bytes > wire::kLongestSubGroupAnswer) {
    return Error{fmt::format("an answer of {} bytes is too long", call.output_bytes)};
  }
  wire::InfoReply reply;
  reply.error = kernel.value()->error;
  if (reply.error != CL_SUCCESS) return reply;
  const auto function = sub_group_function(driver_.platforms()[driver_.devices()[call.device].platform]);
  if (function == nullptr) return wire::InfoReply{CL_INVALID_OPERATION, {}};

  std::size_t size = 0;
  reply.value.resize(call.output_bytes);
  reply.error = function(kernel.value()->handle.get(), id.value(), call.param, call.input.size(),
                         call.input.empty() ? nullptr : call.input.data(), reply.value.size(),
                         reply.value.empty() ? nullptr : reply.value.data(), &size);
  // An application that only asks for the size gets an answer of that size.
  if (reply.error != CL_SUCCESS) size = 0;
  reply.value.resize(std::min<std::size_t>(size, wire::kLongestSubGroupAnswer));
  return reply;
}

}  // namespace fairgv::vgpu::opencl
