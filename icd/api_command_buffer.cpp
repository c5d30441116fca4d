// Entry points: command buffers (cl_khr_command_buffer). The queue of a recorded command must be null and its
// mutable handle too: buffers of several queues and commands that change are extensions of their own.
#include "icd/api.hpp"
#include "icd/checks.hpp"
#include "icd/command_buffer.hpp"
#include "icd/copy_calls.hpp"
#include "icd/entry.hpp"
#include "icd/image.hpp"
#include "icd/launch.hpp"
#include "icd/properties.hpp"

namespace fairgv::icd {
namespace {

/// Whether the devices' own limits allow a command buffer for that queue with those flags.
cl_int check_capabilities(Queue& queue, cl_command_buffer_flags_khr flags) {
  const auto number = [&](cl_device_info param, std::uint64_t& value) -> cl_int {
    return queue.device().info(param, {sizeof(value), &value, nullptr});
  };
  cl_device_command_buffer_capabilities_khr capabilities = 0;
  cl_command_queue_properties required = 0;
  if (const cl_int error = number(CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, capabilities)) return error;
  if (const cl_int error = number(CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, required)) {
    return error;
  }
  const bool out_of_order = (queue.properties() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  if (out_of_order && (capabilities & CL_COMMAND_BUFFER_CAPABILITY_OUT_OF_ORDER_KHR) == 0)
    return CL_INCOMPATIBLE_COMMAND_QUEUE_KHR;
  if ((queue.properties() & required) != required) return CL_INCOMPATIBLE_COMMAND_QUEUE_KHR;
  const bool simultaneous = (flags & CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR) != 0;
  if (simultaneous && (capabilities & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) == 0)
    return CL_INVALID_PROPERTY;
  return CL_SUCCESS;
}

/// What all recording calls check first.
cl_int check_target(const CommandBuffer* buffer, cl_command_queue queue,
                    const cl_mutable_command_khr* mutable_handle) {
  if (buffer == nullptr) return CL_INVALID_COMMAND_BUFFER_KHR;
  if (queue != nullptr) return CL_INVALID_COMMAND_QUEUE;
  return mutable_handle != nullptr ? CL_INVALID_VALUE : CL_SUCCESS;
}

cl_int record_launch(CommandBuffer& buffer, Kernel& kernel, const IndexSpace& space,
                     const SyncPoints& points) {
  if (const cl_int error = check_launch(buffer.queue(), kernel, space)) return error;
  if (space.is_empty()) {
    wire::RecordBarrier call;
    return buffer.record(call, points);
  }
  wire::RecordKernel call{{}, make_launch(kernel, space)};
  return kernel.send_changes([&](auto updates, auto values) {
    call.launch.updates = updates;
    call.launch.values = values;
    return buffer.record(call, points);
  });
}

}  // namespace

cl_command_buffer_khr clCreateCommandBufferKHR(cl_uint num_queues, const cl_command_queue* queues,
                                               const cl_command_buffer_properties_khr* properties,
                                               cl_int* errcode_ret) {
  return create_entry<cl_command_buffer_khr>(errcode_ret, [&]() -> Outcome<cl_command_buffer_khr> {
    if (num_queues != 1 || queues == nullptr) return CL_INVALID_VALUE;
    Queue* const queue = downcast<Queue>(queues[0]);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    cl_command_buffer_flags_khr flags = 0;
    std::vector<cl_command_buffer_properties_khr> list;
    const cl_int error = read_properties(properties, CL_INVALID_VALUE, list, [&](auto name, auto value) {
      if (name != CL_COMMAND_BUFFER_FLAGS_KHR) return CL_INVALID_VALUE;
      flags = value;
      return (flags & ~cl_bitfield{CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR}) == 0 ? CL_SUCCESS
                                                                                 : CL_INVALID_VALUE;
    });
    if (error != CL_SUCCESS) return error;
    if (const cl_int lacking = check_capabilities(*queue, flags)) return lacking;
    return Ref<CommandBuffer>::make(*queue, flags, std::move(list)).publish();
  });
}

cl_int clRetainCommandBufferKHR(cl_command_buffer_khr command_buffer) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (buffer == nullptr) return CL_INVALID_COMMAND_BUFFER_KHR;
    buffer->retain();
    return CL_SUCCESS;
  });
}

cl_int clReleaseCommandBufferKHR(cl_command_buffer_khr command_buffer) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    return buffer != nullptr && buffer->release() ? CL_SUCCESS : CL_INVALID_COMMAND_BUFFER_KHR;
  });
}

cl_int clFinalizeCommandBufferKHR(cl_command_buffer_khr command_buffer) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    return buffer == nullptr ? CL_INVALID_COMMAND_BUFFER_KHR : buffer->finalize();
  });
}

cl_int clEnqueueCommandBufferKHR(cl_uint num_queues, cl_command_queue* queues,
                                 cl_command_buffer_khr command_buffer, cl_uint num_events_in_wait_list,
                                 const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (buffer == nullptr) return CL_INVALID_COMMAND_BUFFER_KHR;
    if (num_queues > 1 || (num_queues == 0) != (queues == nullptr)) return CL_INVALID_VALUE;
    Queue* const queue = num_queues == 0 ? &buffer->queue() : downcast<Queue>(queues[0]);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    if (&queue->context() != &buffer->context()) return CL_INVALID_CONTEXT;
    const bool compatible =
        &queue->device() == &buffer->queue().device() && queue->properties() == buffer->queue().properties();
    if (!compatible) return CL_INCOMPATIBLE_COMMAND_QUEUE_KHR;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    return buffer->replay(*queue, wait_list, event);
  });
}

cl_int clGetCommandBufferInfoKHR(cl_command_buffer_khr command_buffer, cl_command_buffer_info_khr param_name,
                                 size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (buffer == nullptr) return CL_INVALID_COMMAND_BUFFER_KHR;
    return buffer->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

// ---- recording

cl_int clCommandBarrierWithWaitListKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                       cl_uint num_sync_points_in_wait_list,
                                       const cl_sync_point_khr* sync_point_wait_list,
                                       cl_sync_point_khr* sync_point,
                                       cl_mutable_command_khr* mutable_handle) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (const cl_int error = check_target(buffer, command_queue, mutable_handle)) return error;
    wire::RecordBarrier call;
    return buffer->record(call, {num_sync_points_in_wait_list, sync_point_wait_list, sync_point});
  });
}

cl_int clCommandCopyBufferKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                              cl_mem src_buffer, cl_mem dst_buffer, size_t src_offset, size_t dst_offset,
                              size_t size, cl_uint num_sync_points_in_wait_list,
                              const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
                              cl_mutable_command_khr* mutable_handle) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (const cl_int error = check_target(buffer, command_queue, mutable_handle)) return error;
    const Memory* const source = downcast<Memory>(src_buffer);
    const Memory* const destination = downcast<Memory>(dst_buffer);
    if (const cl_int error = check_buffer(buffer->queue(), source)) return error;
    if (const cl_int error = check_buffer(buffer->queue(), destination)) return error;
    wire::RecordCopyBuffer call;
    const cl_int error = make_copy(*source, *destination, src_offset, dst_offset, size, call.copy);
    if (error != CL_SUCCESS) return error;
    return buffer->record(call, {num_sync_points_in_wait_list, sync_point_wait_list, sync_point});
  });
}

cl_int clCommandCopyBufferRectKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                  cl_mem src_buffer, cl_mem dst_buffer, const size_t* src_origin,
                                  const size_t* dst_origin, const size_t* region, size_t src_row_pitch,
                                  size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch,
                                  cl_uint num_sync_points_in_wait_list,
                                  const cl_sync_point_khr* sync_point_wait_list,
                                  cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (const cl_int error = check_target(buffer, command_queue, mutable_handle)) return error;
    const Memory* const source = downcast<Memory>(src_buffer);
    const Memory* const destination = downcast<Memory>(dst_buffer);
    if (const cl_int error = check_buffer(buffer->queue(), source)) return error;
    if (const cl_int error = check_buffer(buffer->queue(), destination)) return error;
    wire::RecordCopyBufferRect call;
    const cl_int error =
        make_rect_copy({*source, src_origin, src_row_pitch, src_slice_pitch},
                       {*destination, dst_origin, dst_row_pitch, dst_slice_pitch}, region, call.copy);
    if (error != CL_SUCCESS) return error;
    return buffer->record(call, {num_sync_points_in_wait_list, sync_point_wait_list, sync_point});
  });
}

cl_int clCommandFillBufferKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                              cl_mem buffer_handle, const void* pattern, size_t pattern_size, size_t offset,
                              size_t size, cl_uint num_sync_points_in_wait_list,
                              const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
                              cl_mutable_command_khr* mutable_handle) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (const cl_int error = check_target(buffer, command_queue, mutable_handle)) return error;
    const Memory* const memory = downcast<Memory>(buffer_handle);
    if (const cl_int error = check_buffer(buffer->queue(), memory)) return error;
    wire::RecordFillBuffer call;
    const cl_int error = make_fill(*memory, pattern, pattern_size, offset, size, call.fill);
    if (error != CL_SUCCESS) return error;
    return buffer->record(call, {num_sync_points_in_wait_list, sync_point_wait_list, sync_point});
  });
}

cl_int clCommandNDRangeKernelKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                 const cl_ndrange_kernel_command_properties_khr* properties,
                                 cl_kernel kernel_handle, cl_uint work_dim, const size_t* global_work_offset,
                                 const size_t* global_work_size, const size_t* local_work_size,
                                 cl_uint num_sync_points_in_wait_list,
                                 const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
                                 cl_mutable_command_khr* mutable_handle) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (const cl_int error = check_target(buffer, command_queue, mutable_handle)) return error;
    // The extension itself defines none.
    if (properties != nullptr && properties[0] != 0) return CL_INVALID_VALUE;
    Kernel* const kernel = downcast<Kernel>(kernel_handle);
    if (kernel == nullptr) return CL_INVALID_KERNEL;
    return record_launch(*buffer, *kernel, {work_dim, global_work_offset, global_work_size, local_work_size},
                         {num_sync_points_in_wait_list, sync_point_wait_list, sync_point});
  });
}

// ---- recording commands on images: what the driver has to say about formats and regions is waited for

cl_int clCommandCopyBufferToImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                     cl_mem src_buffer, cl_mem dst_image, size_t src_offset,
                                     const size_t* dst_origin, const size_t* region,
                                     cl_uint num_sync_points_in_wait_list,
                                     const cl_sync_point_khr* sync_point_wait_list,
                                     cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (const cl_int error = check_target(buffer, command_queue, mutable_handle)) return error;
    const Memory* const source = downcast<Memory>(src_buffer);
    const Memory* const destination = downcast<Memory>(dst_image);
    if (const cl_int error = check_buffer(buffer->queue(), source)) return error;
    if (const cl_int error = check_image(buffer->queue(), destination)) return error;
    if (dst_origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
    wire::RecordCopyBufferToImage call{{},         source->id(),       destination->id(),
                                       src_offset, extent(dst_origin), extent(region)};
    return buffer->record(call, {num_sync_points_in_wait_list, sync_point_wait_list, sync_point});
  });
}

cl_int clCommandCopyImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                             cl_mem src_image, cl_mem dst_image, const size_t* src_origin,
                             const size_t* dst_origin, const size_t* region,
                             cl_uint num_sync_points_in_wait_list,
                             const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
                             cl_mutable_command_khr* mutable_handle) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (const cl_int error = check_target(buffer, command_queue, mutable_handle)) return error;
    const Memory* const source = downcast<Memory>(src_image);
    const Memory* const destination = downcast<Memory>(dst_image);
    if (const cl_int error = check_image(buffer->queue(), source)) return error;
    if (const cl_int error = check_image(buffer->queue(), destination)) return error;
    if (src_origin == nullptr || dst_origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
    wire::RecordCopyImage call{
        {}, source->id(), destination->id(), extent(src_origin), extent(dst_origin), extent(region)};
    return buffer->record(call, {num_sync_points_in_wait_list, sync_point_wait_list, sync_point});
  });
}

cl_int clCommandCopyImageToBufferKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                     cl_mem src_image, cl_mem dst_buffer, const size_t* src_origin,
                                     const size_t* region, size_t dst_offset,
                                     cl_uint num_sync_points_in_wait_list,
                                     const cl_sync_point_khr* sync_point_wait_list,
                                     cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (const cl_int error = check_target(buffer, command_queue, mutable_handle)) return error;
    const Memory* const source = downcast<Memory>(src_image);
    const Memory* const destination = downcast<Memory>(dst_buffer);
    if (const cl_int error = check_image(buffer->queue(), source)) return error;
    if (const cl_int error = check_buffer(buffer->queue(), destination)) return error;
    if (src_origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
    wire::RecordCopyImageToBuffer call{
        {}, source->id(), destination->id(), extent(src_origin), extent(region), dst_offset};
    return buffer->record(call, {num_sync_points_in_wait_list, sync_point_wait_list, sync_point});
  });
}

cl_int clCommandFillImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                             cl_mem image, const void* fill_color, const size_t* origin, const size_t* region,
                             cl_uint num_sync_points_in_wait_list,
                             const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
                             cl_mutable_command_khr* mutable_handle) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (const cl_int error = check_target(buffer, command_queue, mutable_handle)) return error;
    const Memory* const memory = downcast<Memory>(image);
    if (const cl_int error = check_image(buffer->queue(), memory)) return error;
    if (fill_color == nullptr || origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
    wire::RecordFillImage call{{}, memory->id(), {}, extent(origin), extent(region)};
    std::memcpy(call.color.data(), fill_color, sizeof(call.color));
    return buffer->record(call, {num_sync_points_in_wait_list, sync_point_wait_list, sync_point});
  });
}

}  // namespace fairgv::icd
