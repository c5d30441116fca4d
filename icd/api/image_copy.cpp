// Entry points: commands on images that need nothing of the host's memory.
#include "icd/api/api.hpp"
#include "icd/api/enqueue_entry.hpp"
#include "icd/transfer/image_copy_calls.hpp"

namespace fairgv::icd {

cl_int clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image,
                          const size_t* src_origin, const size_t* dst_origin, const size_t* region,
                          cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return enqueue_entry<wire::EnqueueCopyImage>(
      {command_queue, num_events_in_wait_list, event_wait_list, event}, CL_COMMAND_COPY_IMAGE,
      [&](const Queue& queue, auto& call) {
        return make_copy(queue, {src_image, dst_image, src_origin, dst_origin, region}, call);
      });
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_buffer,
                                  const size_t* src_origin, const size_t* region, size_t dst_offset,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                  cl_event* event) {
  return enqueue_entry<wire::EnqueueCopyImageToBuffer>(
      {command_queue, num_events_in_wait_list, event_wait_list, event}, CL_COMMAND_COPY_IMAGE_TO_BUFFER,
      [&](const Queue& queue, auto& call) {
        return make_copy(queue, {src_image, dst_buffer, src_origin, region, dst_offset}, call);
      });
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_image,
                                  size_t src_offset, const size_t* dst_origin, const size_t* region,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                  cl_event* event) {
  return enqueue_entry<wire::EnqueueCopyBufferToImage>(
      {command_queue, num_events_in_wait_list, event_wait_list, event}, CL_COMMAND_COPY_BUFFER_TO_IMAGE,
      [&](const Queue& queue, auto& call) {
        return make_copy(queue, {dst_image, src_buffer, dst_origin, region, src_offset}, call);
      });
}

cl_int clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void* fill_color,
                          const size_t* origin, const size_t* region, cl_uint num_events_in_wait_list,
                          const cl_event* event_wait_list, cl_event* event) {
  return enqueue_entry<wire::EnqueueFillImage>(
      {command_queue, num_events_in_wait_list, event_wait_list, event}, CL_COMMAND_FILL_IMAGE,
      [&](const Queue& queue, auto& call) {
        return make_fill(queue, image, fill_color, origin, region, call);
      });
}

}  // namespace fairgv::icd
