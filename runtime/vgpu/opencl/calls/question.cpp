// Questions that the specification leaves to the driver: asked when a program needs the answer, before its
// call returns.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "runtime/vgpu/opencl/handlers.hpp"
#include "runtime/vgpu/opencl/programs/trial.hpp"

namespace fairgv::vgpu::opencl {
namespace {

cl_int devices_of_type(cl_platform_id platform, cl_device_type type, std::vector<cl_device_id>& ids) {
  cl_uint count = 0;
  const cl_int error = clGetDeviceIDs(platform, type, 0, nullptr, &count);
  if (error != CL_SUCCESS || count == 0) return error;
  ids.resize(count);
  return clGetDeviceIDs(platform, type, count, ids.data(), nullptr);
}

// Deprecated since OpenCL 2.2, which introduced it, but its answer is needed all the same.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
cl_int set_release_callback(cl_program program) {
  return clSetProgramReleaseCallback(
      program, [](cl_program, void*) {}, nullptr);
}
#pragma GCC diagnostic pop

/// An image of sixteen elements in a buffer of the driver's own memory, or in these bytes.
cl_int make_image_of_buffer(cl_context context, void* host) {
  constexpr std::size_t kElements = 16;
  cl_int error = CL_SUCCESS;
  const MemoryHandle buffer(clCreateBuffer(context, host != nullptr ? CL_MEM_USE_HOST_PTR : 0,
                                           kElements * sizeof(cl_uint), host, &error));
  if (error != CL_SUCCESS) return error;
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  description.image_width = kElements;
  description.mem_object = buffer.get();
  const MemoryHandle image(clCreateImage(context, 0, &format, &description, nullptr, &error));
  return error;
}

/// A command that moves nothing. A second buffer for a copy, which may not be one within a buffer.
cl_int enqueue_empty(cl_command_type type, const Buffer& buffer, cl_command_queue queue, const Waits& waits) {
  static std::uint32_t host = 0;
  const auto pin = block_of(buffer) ? block_of(buffer)->pin() : nullptr;
  MemoryHandle like_it;
  if (!buffer.handle) {
    cl_int error = CL_SUCCESS;
    like_it = MemoryHandle(clCreateBuffer(buffer.context->handle.get(), 0, sizeof(host), nullptr, &error));
    if (error != CL_SUCCESS) return error;
  }
  const cl_mem memory = buffer.handle ? buffer.handle.get() : like_it.get();
  switch (type) {
    case CL_COMMAND_READ_BUFFER:
      return clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, 0, &host, waits.count, waits.list, waits.event);
    case CL_COMMAND_WRITE_BUFFER:
      return clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, 0, &host, waits.count, waits.list, waits.event);
    case CL_COMMAND_FILL_BUFFER:
      return clEnqueueFillBuffer(queue, memory, &host, sizeof(host), 0, 0, waits.count, waits.list,
                                 waits.event);
    case CL_COMMAND_COPY_BUFFER: {
      cl_int error = CL_SUCCESS;
      const MemoryHandle other(
          clCreateBuffer(buffer.context->handle.get(), 0, sizeof(host), nullptr, &error));
      if (error != CL_SUCCESS) return error;
      return clEnqueueCopyBuffer(queue, memory, other.get(), 0, 0, 0, waits.count, waits.list, waits.event);
    }
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace

Result<wire::DevicesReply> Handlers::handle(const wire::GetDevicesOfType& call) {
  if (call.platform >= driver_.platforms().size()) {
    return Error{fmt::format("platform {} of {} does not exist", call.platform, driver_.platforms().size())};
  }
  const cl_platform_id platform = driver_.platforms()[call.platform].id;
  std::vector<cl_device_id> ids;
  wire::DevicesReply reply;
  reply.error = devices_of_type(platform, call.type, ids);
  if (reply.error != CL_SUCCESS) return reply;
  const auto roots = driver_.root_devices();
  bool hides_default = false;
  for (const cl_device_id id : ids) {
    const auto known = std::find_if(roots.begin(), roots.end(),
                                    [id](const Device& device) { return device.known_as == id; });
    if (known == roots.end()) continue;
    const auto index = static_cast<wire::DeviceIndex>(known - roots.begin());
    if (settings_.access.may_name(index)) {
      reply.devices.push_back(index);
    } else {
      hides_default = (call.type & CL_DEVICE_TYPE_DEFAULT) != 0;
    }
  }
  // A platform has a default device as long as it has any: another if the driver's is hidden.
  for (wire::DeviceIndex i = 0; hides_default && reply.devices.empty() && i < roots.size(); ++i) {
    if (roots[i].known_on == call.platform && settings_.access.may_name(i)) reply.devices.push_back(i);
  }
  if (reply.devices.empty()) reply.error = CL_DEVICE_NOT_FOUND;
  return reply;
}

Result<wire::StatusReply> Handlers::handle(const wire::CheckQueue& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  FAIRGV_TRY(id, device(call.device));
  wire::StatusReply reply{context.value()->error};
  if (reply.error != CL_SUCCESS) return reply;
  Platform platform = driver_.platforms()[driver_.devices()[call.device].platform];
  platform.is_2_0 = platform.is_2_0 && call.in_a_list != 0;
  make_queue(platform, context.value()->handle.get(), id.value(), call.properties & kQueueProperties,
             reply.error);
  return reply;
}

Result<wire::StatusReply> Handlers::handle(const wire::CheckHostMemory& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  wire::StatusReply reply{context.value()->error};
  if (reply.error != CL_SUCCESS) return reply;
  if (lender_of(*context.value()) != nullptr) return wire::StatusReply{CL_INVALID_OPERATION};
  const cl_context handle = context.value()->handle.get();
  alignas(4096) static std::array<std::byte, 4096> host;  // never read or written
  reply.error = make_image_of_buffer(handle, host.data());
  if (make_image_of_buffer(handle, nullptr) != CL_SUCCESS) reply.error = CL_SUCCESS;
  return reply;
}

Result<wire::StatusReply> Handlers::handle(const wire::CheckEmptyCommand& call) {
  FAIRGV_TRY(queue, objects_.get<Queue>(call.queue));
  FAIRGV_TRY(buffer, objects_.get<Buffer>(call.buffer));
  wire::StatusReply reply{first_error(*queue.value(), *buffer.value())};
  if (reply.error != CL_SUCCESS) return reply;
  const auto enqueue = [&](cl_command_queue to, const Waits& waits) {
    return enqueue_empty(call.type, *buffer.value(), to, waits);
  };
  // It moves nothing, so it may as well run where the driver runs commands that wait for a failed event.
  reply.error = try_command(platform_of(*queue.value()), *queue.value(), false, enqueue);
  return reply;
}

Result<wire::StatusReply> Handlers::handle(const wire::CheckSubBuffer& call) {
  FAIRGV_TRY(parent, objects_.get<Buffer>(call.parent));
  wire::StatusReply reply{parent.value()->error};
  if (reply.error != CL_SUCCESS) return reply;
  const cl_buffer_region region{call.origin, call.bytes};
  if (const auto& block = parent.value()->block) {
    reply.error = block->try_part(call.flags & ~kHostPointerFlags, region);
    return reply;
  }
  const MemoryHandle part(clCreateSubBuffer(parent.value()->handle.get(), call.flags & ~kHostPointerFlags,
                                            CL_BUFFER_CREATE_TYPE_REGION, &region, &reply.error));
  return reply;
}

Result<wire::StatusReply> Handlers::handle(const wire::CheckReleaseCallback& call) {
  FAIRGV_TRY(program, this->program(call.program));
  if (program.value()->error != CL_SUCCESS) return wire::StatusReply{program.value()->error};
  const Device& device = driver_.devices()[program.value()->context->devices.front()];
  if (!driver_.platforms()[device.platform].is_2_2) return wire::StatusReply{CL_INVALID_OPERATION};
  return wire::StatusReply{set_release_callback(program.value()->handle.get())};
}

Result<wire::StatusReply> Handlers::handle(const wire::CheckLaunch& call) {
  FAIRGV_TRY(queue, objects_.get<Queue>(call.queue));
  FAIRGV_TRY(found, objects_.get<Kernel>(call.kernel));
  if (call.dimensions < 1 || call.dimensions > 3) {
    return Error{fmt::format("a launch in {} dimensions", call.dimensions)};
  }
  Kernel& kernel = *found.value();
  Launch::Range range = Launch::range_of(call);
  // Launch::Range treats a local size of 0 as PoCL does; other drivers answer for themselves.
  const bool is_pocl = queue.value()->is_pocl;
  const bool has_local = is_pocl ? range.has_local : call.has_local_size != 0;
  if (!is_pocl) range.error = CL_SUCCESS;
  wire::StatusReply reply{launch_error(*queue.value(), kernel, *kernel.arguments, range)};
  // The driver may look at memory that is out.
  std::vector<std::unique_ptr<Residency::Pin>> pins;
  if (reply.error == CL_SUCCESS) reply.error = pin_arguments(*kernel.arguments, pins);
  if (reply.error == CL_SUCCESS) reply.error = kernel.apply_arguments();
  if (reply.error != CL_SUCCESS) return reply;
  const auto enqueue = [&](cl_command_queue to, const Waits& waits) {
    return clEnqueueNDRangeKernel(
        to, kernel.handle.get(), range.dimensions, range.has_offset ? range.offset.data() : nullptr,
        call.has_global_size != 0 ? range.global.data() : nullptr, has_local ? range.local.data() : nullptr,
        waits.count, waits.list, waits.event);
  };
  const wire::PlatformIndex platform = queue.value()->on.platform;
  learn_failed_waits(platform, queue.value()->device);
  const bool kept = failed_waits_.at(platform)->rule() == FailedWaits::kIgnored;
  // Then the command's end has to tell.
  if (kept && commands_kept_++ >= kMostKept) return reply;
  reply.error = try_command(platform_of(*queue.value()), *queue.value(), kept, enqueue);
  return reply;
}

const Platform& Handlers::platform_of(const Queue& queue) const {
  return driver_.platforms()[queue.on.platform];
}

Result<void> Handlers::handle(const wire::SetUserEventStatus& call) {
  // Until a program has an event fail, no driver is asked how commands end that wait for it.
  if (call.status < 0 && !has_failed_events_) {
    has_failed_events_ = true;
    objects_.each<Queue>([this](const Queue& queue) {
      if (queue.error == CL_SUCCESS) learn_failed_waits(queue.on.known_on, queue.on.known_as);
    });
  }
  return executor_.set_user_event(call.event, call.status);
}

void Handlers::learn_failed_waits(wire::PlatformIndex platform, cl_device_id device) {
  if (std::exchange(failed_waits_known_.at(platform), std::uint8_t{1}) != 0) return;
  cl_int error = CL_SUCCESS;
  // A session that has moved to another driver may have no context on this one.
  const ContextHandle context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
  if (error == CL_SUCCESS)
    failed_waits_.at(platform)->set(failed_waits_of(driver_.platforms()[platform], context.get(), device));
}

}  // namespace fairgv::vgpu::opencl
