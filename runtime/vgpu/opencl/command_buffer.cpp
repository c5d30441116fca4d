#include "runtime/vgpu/opencl/command_buffer.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "runtime/vgpu/opencl/driver/driver.hpp"

namespace fairgv::vgpu::opencl {

CommandBufferFunctions CommandBufferFunctions::of(cl_platform_id platform) {
  CommandBufferFunctions functions;
  const auto find = [platform](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        clGetExtensionFunctionAddressForPlatform(platform, name));
  };
  find("clCreateCommandBufferKHR", functions.create);
  find("clReleaseCommandBufferKHR", functions.release);
  find("clFinalizeCommandBufferKHR", functions.finalize);
  find("clEnqueueCommandBufferKHR", functions.enqueue);
  find("clCommandBarrierWithWaitListKHR", functions.barrier);
  find("clCommandCopyBufferKHR", functions.copy_buffer);
  find("clCommandCopyBufferRectKHR", functions.copy_buffer_rect);
  find("clCommandCopyBufferToImageKHR", functions.copy_buffer_to_image);
  find("clCommandCopyImageKHR", functions.copy_image);
  find("clCommandCopyImageToBufferKHR", functions.copy_image_to_buffer);
  find("clCommandFillBufferKHR", functions.fill_buffer);
  find("clCommandFillImageKHR", functions.fill_image);
  find("clCommandNDRangeKernelKHR", functions.kernel);
  return functions;
}

bool CommandBufferFunctions::complete() const {
  return create && release && finalize && enqueue && barrier && copy_buffer && copy_buffer_rect &&
         copy_buffer_to_image && copy_image && copy_image_to_buffer && fill_buffer && fill_image && kernel;
}

CommandBuffer::~CommandBuffer() {
  if (handle != nullptr) driver.release(handle);
}

Result<std::vector<cl_sync_point_khr>> CommandBuffer::driver_points(
    std::span<const std::uint32_t> wait_list) const {
  std::vector<cl_sync_point_khr> waits;
  for (const std::uint32_t command : wait_list) {
    if (command == 0 || command > points.size()) {
      return Error{fmt::format("sync point {} of {} recorded commands", command, points.size())};
    }
    waits.push_back(points[command - 1]);
  }
  return waits;
}

cl_kernel CommandBuffer::make_kernel(const Kernel& kernel, cl_int& failure) {
  // PoCL 3.1 reads the arguments of a recorded launch before it checks whether they are there.
  const auto& given = kernel.arguments->arguments;
  const bool complete =
      given.size() == kernel.argument_count && std::find(given.begin(), given.end(), nullptr) == given.end();
  if (!complete) {
    failure = CL_INVALID_KERNEL_ARGS;
    return nullptr;
  }
  const std::string name = get_string([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetKernelInfo(kernel.handle.get(), CL_KERNEL_FUNCTION_NAME, size, value, size_ret);
  });
  KernelHandle own(clCreateKernel(kernel.program->handle.get(), name.c_str(), &failure));
  if (failure != CL_SUCCESS) return nullptr;
  failure = DriverArguments().apply(own.get(), kernel.arguments, 0);
  if (failure != CL_SUCCESS) return nullptr;
  arguments.push_back(kernel.arguments);
  return kernels.emplace_back(std::move(own)).get();
}

bool CommandBuffer::compiles_late() const {
  return std::any_of(code.begin(), code.end(), [](const MadeCode* made) { return !made->is_made(false); });
}

}  // namespace fairgv::vgpu::opencl
