// Entry points: commands on images that need nothing of the host's memory.
#include <cstring>

#include "icd/api.hpp"
#include "icd/checks.hpp"
#include "icd/command.hpp"
#include "icd/entry.hpp"
#include "icd/image.hpp"

namespace fairgv::icd {
namespace {

/// A copy between an image and a buffer, in either direction; checked in one place.
struct BufferCopy {
  cl_command_queue queue;
  cl_mem image;
  cl_mem buffer;
  const size_t* origin;
  const size_t* region;
  std::size_t offset;
  cl_uint wait_count;
  const cl_event* waits;
};

/// Checks the copy, then has `send(queue, image, buffer, box, wait_list)` enqueue it.
template <class Send>
cl_int copy_checked(const BufferCopy& copy, Send&& send) {
  Queue* const queue = downcast<Queue>(copy.queue);
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  const Memory* const image = downcast<Memory>(copy.image);
  const Memory* const buffer = downcast<Memory>(copy.buffer);
  if (const cl_int error = check_image(*queue, image)) return error;
  if (const cl_int error = check_buffer(*queue, buffer)) return error;
  const WaitList wait_list(queue->context(), copy.wait_count, copy.waits);
  if (const cl_int error = wait_list.error()) return error;
  ImageBox box;
  if (const cl_int error = read_box(*image->image(), copy.origin, copy.region, box)) return error;
  // The box lies in the image, so its bytes can be counted.
  const std::uint64_t bytes = box.region.x * box.region.y * box.region.z * image->image()->element_bytes;
  if (!buffer->has_range(copy.offset, bytes)) return CL_INVALID_VALUE;
  return send(*queue, *image, *buffer, box, wait_list);
}

bool same_format(const ImageShape& a, const ImageShape& b) {
  return a.format.image_channel_order == b.format.image_channel_order &&
         a.format.image_channel_data_type == b.format.image_channel_data_type;
}

/// Images in buffers are copied as buffers (OpenCL 3.0, 5.3.4).
bool is_copyable(const Memory& memory) {
  return memory.image()->type != CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

}  // namespace

cl_int clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image,
                          const size_t* src_origin, const size_t* dst_origin, const size_t* region,
                          cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const Memory* const source = downcast<Memory>(src_image);
    const Memory* const destination = downcast<Memory>(dst_image);
    if (const cl_int error = check_image(*queue, source)) return error;
    if (const cl_int error = check_image(*queue, destination)) return error;
    if (!is_copyable(*source) || !is_copyable(*destination)) return CL_INVALID_MEM_OBJECT;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    if (!same_format(*source->image(), *destination->image())) return CL_IMAGE_FORMAT_MISMATCH;
    ImageBox from;
    ImageBox to;
    if (const cl_int error = read_box(*source->image(), src_origin, region, from)) return error;
    if (const cl_int error = read_box(*destination->image(), dst_origin, region, to)) return error;
    if (source == destination && boxes_overlap(from.origin, to.origin, to.region)) return CL_MEM_COPY_OVERLAP;
    wire::EnqueueCopyImage call{{}, source->id(), destination->id(), from.origin, to.origin, to.region};
    return enqueue(*queue, call, wait_list, CL_COMMAND_COPY_IMAGE, event);
  });
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_buffer,
                                  const size_t* src_origin, const size_t* region, size_t dst_offset,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                  cl_event* event) {
  return entry([&] {
    return copy_checked({command_queue, src_image, dst_buffer, src_origin, region, dst_offset,
                         num_events_in_wait_list, event_wait_list},
                        [&](Queue& queue, const Memory& image, const Memory& buffer, const ImageBox& box,
                            const WaitList& wait_list) {
                          wire::EnqueueCopyImageToBuffer call{{},         image.id(), buffer.id(),
                                                              box.origin, box.region, dst_offset};
                          return enqueue(queue, call, wait_list, CL_COMMAND_COPY_IMAGE_TO_BUFFER, event);
                        });
  });
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_image,
                                  size_t src_offset, const size_t* dst_origin, const size_t* region,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                  cl_event* event) {
  return entry([&] {
    return copy_checked({command_queue, dst_image, src_buffer, dst_origin, region, src_offset,
                         num_events_in_wait_list, event_wait_list},
                        [&](Queue& queue, const Memory& image, const Memory& buffer, const ImageBox& box,
                            const WaitList& wait_list) {
                          wire::EnqueueCopyBufferToImage call{{},         buffer.id(), image.id(),
                                                              box.origin, box.region,  src_offset};
                          return enqueue(queue, call, wait_list, CL_COMMAND_COPY_BUFFER_TO_IMAGE, event);
                        });
  });
}

cl_int clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void* fill_color,
                          const size_t* origin, const size_t* region, cl_uint num_events_in_wait_list,
                          const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const Memory* const memory = downcast<Memory>(image);
    if (const cl_int error = check_image(*queue, memory)) return error;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    if (fill_color == nullptr) return CL_INVALID_VALUE;
    ImageBox box;
    if (const cl_int error = read_box(*memory->image(), origin, region, box)) return error;
    wire::EnqueueFillImage call{{}, memory->id(), box.origin, box.region, {}};
    // The color of a depth image is one number.
    const bool one_number = memory->image()->format.image_channel_order == CL_DEPTH;
    std::memcpy(call.color.data(), fill_color, one_number ? sizeof(call.color[0]) : sizeof(call.color));
    return enqueue(*queue, call, wait_list, CL_COMMAND_FILL_IMAGE, event);
  });
}

}  // namespace fairgv::icd
