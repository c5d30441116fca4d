#include "runtime/vgpu/opencl/failure/device_trial.hpp"

#include <CL/cl.h>
#include <fmt/core.h>

#include <array>
#include <cstdint>

#include "runtime/vgpu/backend/device_trial.hpp"
#include "runtime/vgpu/opencl/handles.hpp"
#include "runtime/vgpu/opencl/programs/trial.hpp"

namespace fairgv::vgpu::opencl {
namespace {

constexpr std::size_t kTriedNumbers = 64;
constexpr const char* kTriedSource =
    "__kernel void try_device(__global uint* numbers) {\n"
    "  numbers[get_global_id(0)] += (uint)get_global_id(0);\n"
    "}\n";

session::TrialEnded ended_with(const char* what, cl_int error) {
  if (error == CL_DEVICE_NOT_AVAILABLE) return trial_failed(what, "CL_DEVICE_NOT_AVAILABLE");
  return trial_unknown(what, fmt::format("error {}", error));
}

/// A device without a compiler is tried by transfers alone.
KernelHandle make_kernel(cl_context context, cl_device_id device, cl_int& error) {
  const char* source = kTriedSource;
  const ProgramHandle program(clCreateProgramWithSource(context, 1, &source, nullptr, &error));
  if (error == CL_SUCCESS) error = clBuildProgram(program.get(), 1, &device, "", nullptr, nullptr);
  return error == CL_SUCCESS ? KernelHandle(clCreateKernel(program.get(), "try_device", &error))
                             : KernelHandle();
}

}  // namespace

session::TrialEnded try_device(const Driver& driver, wire::DeviceIndex index) {
  const Device& device = driver.devices()[index];
  const Platform& platform = driver.platforms()[device.platform];
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(platform.id), 0};
  cl_int error = CL_SUCCESS;
  const ContextHandle context(clCreateContext(properties, 1, &device.id, nullptr, nullptr, &error));
  if (error != CL_SUCCESS) return ended_with("its context", error);
  const QueueHandle queue = make_queue(platform, context.get(), device.id, 0, error);
  if (error != CL_SUCCESS) return ended_with("its queue", error);
  std::array<std::uint32_t, kTriedNumbers> numbers{};
  constexpr std::uint32_t kBefore = 17;
  numbers.fill(kBefore);
  const MemoryHandle buffer(
      clCreateBuffer(context.get(), CL_MEM_READ_WRITE, sizeof(numbers), nullptr, &error));
  if (error != CL_SUCCESS) return ended_with("its memory", error);
  error = clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_TRUE, 0, sizeof(numbers), numbers.data(), 0,
                               nullptr, nullptr);
  if (error != CL_SUCCESS) return ended_with("a write", error);
  const KernelHandle kernel = make_kernel(context.get(), device.id, error);
  const bool runs = error == CL_SUCCESS;
  if (!runs && error != CL_COMPILER_NOT_AVAILABLE) return ended_with("a build", error);
  if (runs) {
    const cl_mem argument = buffer.get();
    const std::size_t all = kTriedNumbers;
    error = clSetKernelArg(kernel.get(), 0, sizeof(argument), &argument);
    EventHandle end;
    if (error == CL_SUCCESS)
      error = clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &all, nullptr, 0, nullptr,
                                     end.receive());
    if (error != CL_SUCCESS) return ended_with("a launch", error);
    clFinish(queue.get());
    cl_int status = CL_COMPLETE;
    clGetEventInfo(end.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
    if (status < 0) return ended_with("a launch", status);
  }
  error = clEnqueueReadBuffer(queue.get(), buffer.get(), CL_TRUE, 0, sizeof(numbers), numbers.data(), 0,
                              nullptr, nullptr);
  if (error != CL_SUCCESS) return ended_with("a read", error);
  for (std::uint32_t i = 0; i < kTriedNumbers; ++i) {
    if (numbers.at(i) != kBefore + (runs ? i : 0)) return trial_failed("a launch", "its results are wrong");
  }
  return trial_works();
}

}  // namespace fairgv::vgpu::opencl
