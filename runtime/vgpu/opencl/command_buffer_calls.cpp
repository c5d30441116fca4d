// Command buffers: recorded in the driver's own, replayed as one command of a queue.
#include <fmt/core.h>

#include "runtime/vgpu/opencl/backend.hpp"
#include "runtime/vgpu/opencl/command_buffer.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// One run of everything recorded.
class Replay final : public QueueCommand {
 public:
  Replay(std::shared_ptr<Queue> queue, std::shared_ptr<CommandBuffer> buffer)
      : QueueCommand(queue, first_error(*queue, *buffer)), buffer_(std::move(buffer)) {}

  bool is_launch() const final { return true; }

 private:
  cl_int enqueue(cl_command_queue queue, const Waits& waits) final {
    return buffer_->driver.enqueue(1, &queue, buffer_->handle, waits.count, waits.list, waits.event);
  }

  std::shared_ptr<CommandBuffer> buffer_;
};

/// The front end lets no two runs of a buffer overlap that must not, and knows only from events when one has
/// ended, so the driver is asked to be as lenient as it can.
cl_command_buffer_flags_khr driver_flags(cl_device_id device, std::uint64_t asked) {
  cl_device_command_buffer_capabilities_khr capabilities = 0;
  const cl_int error = clGetDeviceInfo(device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR,
                                       sizeof(capabilities), &capabilities, nullptr);
  const bool lenient =
      error == CL_SUCCESS && (capabilities & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) != 0;
  return asked | (lenient ? cl_bitfield{CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR} : 0);
}

Result<wire::StatusReply> status(const Result<cl_int>& outcome) {
  if (!outcome) return outcome.error();
  return wire::StatusReply{outcome.value()};
}

}  // namespace

Result<void> Backend::handle(const wire::CreateCommandBuffer& call) {
  auto queue = objects_.get<Queue>(call.queue);
  if (!queue) return queue.error();
  auto buffer = std::make_shared<CommandBuffer>();
  buffer->queue = std::move(queue).value();
  buffer->error = buffer->queue->error;
  if (buffer->error == CL_SUCCESS) {
    const Device& device = driver_.devices()[buffer->queue->lane->device()];
    buffer->driver = CommandBufferFunctions::of(driver_.platforms()[device.platform].id);
    const cl_command_buffer_flags_khr flags = driver_flags(device.id, call.flags);
    const cl_command_buffer_properties_khr properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0};
    const cl_command_queue handle = buffer->queue->handle.get();
    if (!buffer->driver.complete()) {
      buffer->error = CL_INVALID_OPERATION;
    } else {
      buffer->handle = buffer->driver.create(1, &handle, flags != 0 ? properties : nullptr, &buffer->error);
    }
  }
  return objects_.insert(call.id, std::move(buffer));
}

// record() and recorded(): see backend.hpp.

template <class Record, class... Objects>
Result<cl_int> Backend::record(const wire::Recording& recording, Record record, const Objects&... objects) {
  const auto found = objects_.get<CommandBuffer>(recording.command_buffer);
  if (!found) return found.error();
  CommandBuffer& buffer = *found.value();
  const auto waits = buffer.driver_points(recording.wait_list);
  if (!waits) return waits.error();
  if (buffer.finalized) return Error{"a command for a buffer that was finalized"};

  cl_sync_point_khr own = 0;
  cl_int error = first_error(buffer, *objects...);
  if (error == CL_SUCCESS) {
    const auto count = static_cast<cl_uint>(waits.value().size());
    error = record(buffer, RecordWaits{count, count != 0 ? waits.value().data() : nullptr, &own});
  }
  if (error == CL_SUCCESS) {
    buffer.points.push_back(own);
    (buffer.uses.push_back(objects), ...);
  }
  return error;
}

Result<void> Backend::recorded(const wire::Recording& recording, Result<cl_int> outcome) {
  if (!outcome) return outcome.error();
  if (outcome.value() == CL_SUCCESS) return {};
  const auto buffer = objects_.get<CommandBuffer>(recording.command_buffer);
  if (!buffer) return buffer.error();
  buffer.value()->error = outcome.value();
  buffer.value()->points.push_back(0);
  return {};
}

Result<void> Backend::handle(const wire::RecordBarrier& call) {
  return recorded(call.recording, record(call.recording, [](CommandBuffer& buffer, const RecordWaits& waits) {
                    return buffer.driver.barrier(buffer.handle, nullptr, waits.count, waits.list, waits.own,
                                                 nullptr);
                  }));
}

Result<void> Backend::handle(const wire::RecordCopyBuffer& call) {
  const auto source = objects_.get<Buffer>(call.copy.source);
  if (!source) return source.error();
  const auto destination = objects_.get<Buffer>(call.copy.destination);
  if (!destination) return destination.error();
  return recorded(call.recording, record(
                                      call.recording,
                                      [&](CommandBuffer& buffer, const RecordWaits& waits) {
                                        return buffer.driver.copy_buffer(
                                            buffer.handle, nullptr, source.value()->handle.get(),
                                            destination.value()->handle.get(), call.copy.source_offset,
                                            call.copy.destination_offset, call.copy.bytes, waits.count,
                                            waits.list, waits.own, nullptr);
                                      },
                                      source.value(), destination.value()));
}

Result<void> Backend::handle(const wire::RecordCopyBufferRect& call) {
  const auto source = objects_.get<Buffer>(call.copy.source);
  if (!source) return source.error();
  const auto destination = objects_.get<Buffer>(call.copy.destination);
  if (!destination) return destination.error();
  return recorded(call.recording,
                  record(
                      call.recording,
                      [&](CommandBuffer& buffer, const RecordWaits& waits) {
                        const wire::EnqueueCopyBufferRect& copy = call.copy;
                        return buffer.driver.copy_buffer_rect(
                            buffer.handle, nullptr, source.value()->handle.get(),
                            destination.value()->handle.get(), sizes(copy.source_origin).data(),
                            sizes(copy.destination_origin).data(), sizes(copy.region).data(),
                            copy.source_row_pitch, copy.source_slice_pitch, copy.destination_row_pitch,
                            copy.destination_slice_pitch, waits.count, waits.list, waits.own, nullptr);
                      },
                      source.value(), destination.value()));
}

Result<void> Backend::handle(const wire::RecordFillBuffer& call) {
  const auto memory = objects_.get<Buffer>(call.fill.buffer);
  if (!memory) return memory.error();
  return recorded(call.recording, record(
                                      call.recording,
                                      [&](CommandBuffer& buffer, const RecordWaits& waits) {
                                        return buffer.driver.fill_buffer(
                                            buffer.handle, nullptr, memory.value()->handle.get(),
                                            call.fill.pattern.data(), call.fill.pattern.size(),
                                            call.fill.offset, call.fill.bytes, waits.count, waits.list,
                                            waits.own, nullptr);
                                      },
                                      memory.value()));
}

Result<void> Backend::handle(const wire::RecordKernel& call) {
  const auto kernel = launched(call.launch);
  if (!kernel) return kernel.error();
  const Launch::Range range = Launch::range_of(call.launch);
  return recorded(call.recording, record(
                                      call.recording,
                                      [&](CommandBuffer& buffer, const RecordWaits& waits) {
                                        cl_int error = first_error(*kernel.value()->arguments);
                                        if (error != CL_SUCCESS) return error;
                                        const cl_kernel own = buffer.make_kernel(*kernel.value(), error);
                                        if (error != CL_SUCCESS) return error;
                                        return buffer.driver.kernel(
                                            buffer.handle, nullptr, nullptr, own, range.dimensions,
                                            range.has_offset ? range.offset.data() : nullptr,
                                            range.global.data(),
                                            range.has_local ? range.local.data() : nullptr, waits.count,
                                            waits.list, waits.own, nullptr);
                                      },
                                      kernel.value()));
}

// ---- images: the driver's answer is passed on

Result<wire::StatusReply> Backend::handle(const wire::RecordCopyBufferToImage& call) {
  const auto source = objects_.get<Buffer>(call.buffer);
  if (!source) return source.error();
  const auto image = objects_.get<Image>(call.image);
  if (!image) return image.error();
  return status(record(
      call.recording,
      [&](CommandBuffer& buffer, const RecordWaits& waits) {
        return buffer.driver.copy_buffer_to_image(buffer.handle, nullptr, source.value()->handle.get(),
                                                  image.value()->handle.get(), call.offset,
                                                  sizes(call.origin).data(), sizes(call.region).data(),
                                                  waits.count, waits.list, waits.own, nullptr);
      },
      source.value(), image.value()));
}

Result<wire::StatusReply> Backend::handle(const wire::RecordCopyImage& call) {
  const auto source = objects_.get<Image>(call.source);
  if (!source) return source.error();
  const auto destination = objects_.get<Image>(call.destination);
  if (!destination) return destination.error();
  return status(record(
      call.recording,
      [&](CommandBuffer& buffer, const RecordWaits& waits) {
        return buffer.driver.copy_image(buffer.handle, nullptr, source.value()->handle.get(),
                                        destination.value()->handle.get(), sizes(call.source_origin).data(),
                                        sizes(call.destination_origin).data(), sizes(call.region).data(),
                                        waits.count, waits.list, waits.own, nullptr);
      },
      source.value(), destination.value()));
}

Result<wire::StatusReply> Backend::handle(const wire::RecordCopyImageToBuffer& call) {
  const auto image = objects_.get<Image>(call.image);
  if (!image) return image.error();
  const auto destination = objects_.get<Buffer>(call.buffer);
  if (!destination) return destination.error();
  return status(record(
      call.recording,
      [&](CommandBuffer& buffer, const RecordWaits& waits) {
        return buffer.driver.copy_image_to_buffer(buffer.handle, nullptr, image.value()->handle.get(),
                                                  destination.value()->handle.get(),
                                                  sizes(call.origin).data(), sizes(call.region).data(),
                                                  call.offset, waits.count, waits.list, waits.own, nullptr);
      },
      image.value(), destination.value()));
}

Result<wire::StatusReply> Backend::handle(const wire::RecordFillImage& call) {
  const auto image = objects_.get<Image>(call.image);
  if (!image) return image.error();
  return status(record(
      call.recording,
      [&](CommandBuffer& buffer, const RecordWaits& waits) {
        return buffer.driver.fill_image(
            buffer.handle, nullptr, image.value()->handle.get(), call.color.data(), sizes(call.origin).data(),
            sizes(call.region).data(), waits.count, waits.list, waits.own, nullptr);
      },
      image.value()));
}

// ---- running

Result<wire::StatusReply> Backend::handle(const wire::FinalizeCommandBuffer& call) {
  const auto found = objects_.get<CommandBuffer>(call.command_buffer);
  if (!found) return found.error();
  CommandBuffer& buffer = *found.value();
  if (buffer.error != CL_SUCCESS) return wire::StatusReply{buffer.error};
  const cl_int error = buffer.driver.finalize(buffer.handle);
  if (error == CL_SUCCESS) buffer.finalized = true;
  return wire::StatusReply{error};
}

Result<void> Backend::handle(const wire::EnqueueCommandBuffer& call) {
  auto queue = objects_.get<Queue>(call.command.queue);
  if (!queue) return queue.error();
  auto buffer = objects_.get<CommandBuffer>(call.command_buffer);
  if (!buffer) return buffer.error();
  if (!buffer.value()->finalized) return Error{"a command buffer that was not finalized"};
  const bool same_device = queue.value()->lane->device() == buffer.value()->queue->lane->device();
  if (!same_device || queue.value()->context != buffer.value()->queue->context) {
    return Error{"a command buffer of another device or context"};
  }
  return executor_.enqueue(std::make_shared<Replay>(std::move(queue).value(), std::move(buffer).value()),
                           call.command.completion, call.command.wait_list);
}

}  // namespace fairgv::vgpu::opencl
