// Entry points: recording into command buffers (cl_khr_command_buffer). The queue of a recorded command must
// be null and its mutable handle too: buffers of several queues and commands that change are extensions of
// their own.
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/objects/command_buffer.hpp"
#include "icd/programs/launch.hpp"
#include "icd/transfer/copy_calls.hpp"
#include "icd/transfer/image_copy_calls.hpp"

namespace fairgv::icd {
namespace {

/// The arguments of every clCommand* function besides its command.
struct RecordArguments {
  cl_command_buffer_khr command_buffer;
  cl_command_queue queue;
  cl_uint wait_count;
  const cl_sync_point_khr* waits;
  cl_sync_point_khr* own;
  const cl_mutable_command_khr* mutable_handle;

  SyncPoints points() const { return {wait_count, waits, own}; }
};

cl_int check_target(const CommandBuffer* buffer, const RecordArguments& arguments) {
  if (buffer == nullptr) return CL_INVALID_COMMAND_BUFFER_KHR;
  if (arguments.queue != nullptr) return CL_INVALID_COMMAND_QUEUE;
  return arguments.mutable_handle != nullptr ? CL_INVALID_VALUE : CL_SUCCESS;
}

/// Lets `make(queue, call)` check the command and fill the call as for an enqueue, and records it.
template <class Call, class Make>
cl_int record_entry(const RecordArguments& arguments, Make&& make) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(arguments.command_buffer);
    if (const cl_int error = check_target(buffer, arguments)) return error;
    Call call;
    if (const cl_int error = make(buffer->queue(), call.command)) return error;
    return buffer->record(call, arguments.points());
  });
}

cl_int record_launch(CommandBuffer& buffer, Kernel& kernel, const IndexSpace& space,
                     const SyncPoints& points) {
  if (const cl_int error = check_launch(buffer.queue(), kernel, space)) return error;
  if (space.is_empty()) {
    wire::RecordBarrier call;
    return buffer.record(call, points);
  }
  wire::RecordKernel call;
  call.command = make_launch(kernel, space);
  return kernel.send_changes([&](auto updates, auto values) {
    call.command.updates = updates;
    call.command.values = values;
    return buffer.record(call, points);
  });
}

}  // namespace

cl_int clCommandBarrierWithWaitListKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                       cl_uint num_sync_points_in_wait_list,
                                       const cl_sync_point_khr* sync_point_wait_list,
                                       cl_sync_point_khr* sync_point,
                                       cl_mutable_command_khr* mutable_handle) {
  return record_entry<wire::RecordBarrier>({command_buffer, command_queue, num_sync_points_in_wait_list,
                                            sync_point_wait_list, sync_point, mutable_handle},
                                           [](const Queue&, auto&) { return CL_SUCCESS; });
}

cl_int clCommandCopyBufferKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                              cl_mem src_buffer, cl_mem dst_buffer, size_t src_offset, size_t dst_offset,
                              size_t size, cl_uint num_sync_points_in_wait_list,
                              const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
                              cl_mutable_command_khr* mutable_handle) {
  return record_entry<wire::RecordCopyBuffer>({command_buffer, command_queue, num_sync_points_in_wait_list,
                                               sync_point_wait_list, sync_point, mutable_handle},
                                              [&](const Queue& queue, auto& call) {
                                                return make_copy(queue, src_buffer, dst_buffer, src_offset,
                                                                 dst_offset, size, call);
                                              });
}

cl_int clCommandCopyBufferRectKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                  cl_mem src_buffer, cl_mem dst_buffer, const size_t* src_origin,
                                  const size_t* dst_origin, const size_t* region, size_t src_row_pitch,
                                  size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch,
                                  cl_uint num_sync_points_in_wait_list,
                                  const cl_sync_point_khr* sync_point_wait_list,
                                  cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  return record_entry<wire::RecordCopyBufferRect>(
      {command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
       mutable_handle},
      [&](const Queue& queue, auto& call) {
        return make_rect_copy(queue, {src_buffer, src_origin, src_row_pitch, src_slice_pitch},
                              {dst_buffer, dst_origin, dst_row_pitch, dst_slice_pitch}, region, call);
      });
}

cl_int clCommandFillBufferKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                              cl_mem buffer, const void* pattern, size_t pattern_size, size_t offset,
                              size_t size, cl_uint num_sync_points_in_wait_list,
                              const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
                              cl_mutable_command_khr* mutable_handle) {
  return record_entry<wire::RecordFillBuffer>({command_buffer, command_queue, num_sync_points_in_wait_list,
                                               sync_point_wait_list, sync_point, mutable_handle},
                                              [&](const Queue& queue, auto& call) {
                                                return make_fill(queue, buffer, pattern, pattern_size, offset,
                                                                 size, call);
                                              });
}

cl_int clCommandCopyImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                             cl_mem src_image, cl_mem dst_image, const size_t* src_origin,
                             const size_t* dst_origin, const size_t* region,
                             cl_uint num_sync_points_in_wait_list,
                             const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
                             cl_mutable_command_khr* mutable_handle) {
  return record_entry<wire::RecordCopyImage>(
      {command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
       mutable_handle},
      [&](const Queue& queue, auto& call) {
        return make_copy(queue, {src_image, dst_image, src_origin, dst_origin, region}, call);
      });
}

cl_int clCommandCopyImageToBufferKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                     cl_mem src_image, cl_mem dst_buffer, const size_t* src_origin,
                                     const size_t* region, size_t dst_offset,
                                     cl_uint num_sync_points_in_wait_list,
                                     const cl_sync_point_khr* sync_point_wait_list,
                                     cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  return record_entry<wire::RecordCopyImageToBuffer>(
      {command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
       mutable_handle},
      [&](const Queue& queue, auto& call) {
        return make_copy(queue, {src_image, dst_buffer, src_origin, region, dst_offset}, call);
      });
}

cl_int clCommandCopyBufferToImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                     cl_mem src_buffer, cl_mem dst_image, size_t src_offset,
                                     const size_t* dst_origin, const size_t* region,
                                     cl_uint num_sync_points_in_wait_list,
                                     const cl_sync_point_khr* sync_point_wait_list,
                                     cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  return record_entry<wire::RecordCopyBufferToImage>(
      {command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
       mutable_handle},
      [&](const Queue& queue, auto& call) {
        return make_copy(queue, {dst_image, src_buffer, dst_origin, region, src_offset}, call);
      });
}

cl_int clCommandFillImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                             cl_mem image, const void* fill_color, const size_t* origin, const size_t* region,
                             cl_uint num_sync_points_in_wait_list,
                             const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
                             cl_mutable_command_khr* mutable_handle) {
  return record_entry<wire::RecordFillImage>({command_buffer, command_queue, num_sync_points_in_wait_list,
                                              sync_point_wait_list, sync_point, mutable_handle},
                                             [&](const Queue& queue, auto& call) {
                                               return make_fill(queue, image, fill_color, origin, region,
                                                                call);
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
    const RecordArguments arguments{command_buffer,       command_queue, num_sync_points_in_wait_list,
                                    sync_point_wait_list, sync_point,    mutable_handle};
    if (const cl_int error = check_target(buffer, arguments)) return error;
    // The extension itself defines no properties.
    if (properties != nullptr && properties[0] != 0) return CL_INVALID_VALUE;
    Kernel* const kernel = downcast<Kernel>(kernel_handle);
    if (kernel == nullptr) return CL_INVALID_KERNEL;
    return record_launch(*buffer, *kernel, {work_dim, global_work_offset, global_work_size, local_work_size},
                         arguments.points());
  });
}

}  // namespace fairgv::icd
