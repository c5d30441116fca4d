// Kernels and their arguments.
#include <fmt/core.h>

#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// A value longer than any driver takes (CL_DEVICE_MAX_PARAMETER_SIZE is a few thousand bytes).
constexpr std::uint64_t kLongestValue = std::uint64_t{1} << 20;

}  // namespace

Result<void> Handlers::handle(const wire::CreateKernel& call) {
  FAIRGV_TRY(program, this->program(call.program));
  auto kernel = std::make_shared<Kernel>();
  kernel->program = std::move(program).value();
  kernel->name = call.kernel;
  kernel->error = kernel->program->error;
  kernel->function = kind_from({call.program.raw, std::hash<std::string_view>()(call.kernel)});
  if (kernel->error == CL_SUCCESS) {
    kernel->handle =
        KernelHandle(clCreateKernel(kernel->program->handle.get(), kernel->name.c_str(), &kernel->error));
  }
  if (kernel->error == CL_SUCCESS) {
    kernel->error = clGetKernelInfo(kernel->handle.get(), CL_KERNEL_NUM_ARGS, sizeof(kernel->argument_count),
                                    &kernel->argument_count, nullptr);
  }
  if (kernel->error == CL_SUCCESS) {
    kernel->takes = argument_kinds(kernel->handle.get(), kernel->argument_count);
    cl_ulong local_bytes = 0;
    // Without a device: of the only one, and unknown where there are several.
    clGetKernelWorkGroupInfo(kernel->handle.get(), nullptr, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(local_bytes),
                             &local_bytes, nullptr);
    kernel->local_bytes = local_bytes;
  }
  if (settings_.never_slice.contains(kernel->name)) {
    kernel->why_whole = "the configuration names it in never_slice";
  } else if (!kernel->program->sliced) {
    kernel->why_whole = "its program was not made from OpenCL C alone";
  } else {
    kernel->sliced_program = kernel->program->sliced;
  }
  return objects_.insert(call.id, std::move(kernel));
}

Result<wire::StatusReply> Handlers::handle(const wire::CheckArgumentSize& call) {
  FAIRGV_TRY(kernel, objects_.get<Kernel>(call.kernel));
  wire::StatusReply reply{kernel.value()->error};
  if (reply.error != CL_SUCCESS) return reply;
  const auto& takes = kernel.value()->takes;
  const bool may_be_value =
      call.index >= takes.size() || takes[call.index] == Takes::value || takes[call.index] == Takes::anything;
  const bool is_nothing = call.bytes == 0 && !may_be_value && takes[call.index] == Takes::local;
  if (!may_be_value && !is_nothing)
    return Error{fmt::format("the size of argument {}, which takes no value", call.index)};
  if (call.bytes > kLongestValue) return wire::StatusReply{CL_INVALID_ARG_SIZE};
  // Tried on a kernel that is thrown away: the real one has arguments to keep.
  const KernelHandle scratch(
      clCreateKernel(kernel.value()->program->handle.get(), kernel.value()->name.c_str(), &reply.error));
  if (reply.error != CL_SUCCESS) return reply;
  const std::vector<std::byte> value(call.bytes);
  reply.error = clSetKernelArg(scratch.get(), call.index, value.size(), is_nothing ? nullptr : value.data());
  return reply;
}

Result<void> Handlers::handle(const wire::SetKernelArguments& call) {
  FAIRGV_TRY(kernel, objects_.get<Kernel>(call.kernel));
  if (kernel.value()->error != CL_SUCCESS) return {};  // a poisoned kernel's arguments do not matter
  FAIRGV_TRY(arguments, updated(*kernel.value()->arguments, call.updates, call.values, kernel.value()->takes,
                                {objects_, segment_.arena()}));
  kernel.value()->arguments = std::move(arguments).value();
  return {};
}

}  // namespace fairgv::vgpu::opencl
