// A command buffer of the driver's (cl_khr_command_buffer), with the objects that must stay alive.
#pragma once

#include <CL/cl_ext.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/vgpu/opencl/arguments.hpp"
#include "runtime/vgpu/opencl/handles.hpp"
#include "runtime/vgpu/opencl/objects.hpp"

namespace fairgv::vgpu::opencl {

/// The extension's functions, which no loader dispatches. Null where the driver has none.
struct CommandBufferFunctions {
  clCreateCommandBufferKHR_fn create = nullptr;
  clReleaseCommandBufferKHR_fn release = nullptr;
  clFinalizeCommandBufferKHR_fn finalize = nullptr;
  clEnqueueCommandBufferKHR_fn enqueue = nullptr;
  clCommandBarrierWithWaitListKHR_fn barrier = nullptr;
  clCommandCopyBufferKHR_fn copy_buffer = nullptr;
  clCommandCopyBufferRectKHR_fn copy_buffer_rect = nullptr;
  clCommandCopyBufferToImageKHR_fn copy_buffer_to_image = nullptr;
  clCommandCopyImageKHR_fn copy_image = nullptr;
  clCommandCopyImageToBufferKHR_fn copy_image_to_buffer = nullptr;
  clCommandFillBufferKHR_fn fill_buffer = nullptr;
  clCommandFillImageKHR_fn fill_image = nullptr;
  clCommandNDRangeKernelKHR_fn kernel = nullptr;

  static CommandBufferFunctions of(cl_platform_id platform);
  bool complete() const;
};

/// The last arguments of every clCommand* function.
struct RecordWaits {
  cl_uint count;
  const cl_sync_point_khr* list;  // null if count is 0
  cl_sync_point_khr* own;
};

class QueueCommand;

/// The loop thread's. Poisoned by the first command that the driver refuses: then nothing more is recorded.
struct CommandBuffer final : ObjectOf<CommandBuffer, ObjectKind::command_buffer> {
  static constexpr std::string_view kName = "command buffer";

  ~CommandBuffer() override;

  /// The driver's sync points for `wait_list`; an Error if it names a command that was not recorded.
  Result<std::vector<cl_sync_point_khr>> driver_points(std::span<const std::uint32_t> wait_list) const;

  /// A kernel of its own for a recorded launch, with the arguments of that moment: some drivers read the
  /// kernel's arguments when the launch is replayed. Null, with `failure` set, if the driver refuses.
  cl_kernel make_kernel(const Kernel& kernel, cl_int& failure);

  /// Whether the driver would make machine code for one of its launches while it is replayed.
  bool compiles_late() const;

  std::shared_ptr<Queue> queue;
  CommandBufferFunctions driver;
  cl_command_buffer_khr handle = nullptr;
  bool finalized = false;
  std::vector<cl_sync_point_khr> points;            // of the commands recorded so far
  std::vector<std::shared_ptr<const Object>> uses;  // that these commands need
  /// Each recorded command as a command of its own on a queue. Barriers are left out: all earlier commands
  /// come first anyway.
  std::vector<std::function<std::shared_ptr<QueueCommand>(const std::shared_ptr<Queue>&)>> steps;
  std::vector<const MadeCode*> code;  // of its launches, where the driver can be stopped; in their programs
  std::vector<std::shared_ptr<const ArgumentSet>> arguments;
  std::vector<KernelHandle> kernels;
  /// The driver has these commands' handles of memory, which must not change.
  std::vector<std::unique_ptr<Residency::Pin>> pins;
};

}  // namespace fairgv::vgpu::opencl
