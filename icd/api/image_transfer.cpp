// Entry points: moving data between host and images.
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/checks.hpp"
#include "icd/memory/image.hpp"
#include "icd/transfer/image_transfers.hpp"

namespace fairgv::icd {
namespace {

struct Arguments {
  cl_command_queue queue;
  cl_mem image;
  cl_bool blocking;
  const size_t* origin;
  const size_t* region;
  std::size_t row_pitch;
  std::size_t slice_pitch;
  const void* host;
  cl_uint wait_count;
  const cl_event* waits;
  cl_event* event;
};

/// Both sides of a transfer, checked.
cl_int read_sides(const Arguments& arguments, const ImageShape& image, ImageBox& box, HostRegion& host) {
  if (const cl_int error = read_box(image, arguments.origin, arguments.region, box)) return error;
  RectLayout layout;
  if (!resolve_host_pitches(image, box.region, arguments.row_pitch, arguments.slice_pitch, layout)) {
    return CL_INVALID_VALUE;
  }
  host = host_box(image, box.region, layout, arguments.host);
  return CL_SUCCESS;
}

cl_int transfer(const Arguments& arguments, Direction direction) {
  Queue* const queue = downcast<Queue>(arguments.queue);
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  Memory* const memory = downcast<Memory>(arguments.image);
  if (const cl_int error = check_image(*queue, memory)) return error;
  const WaitList wait_list(queue->context(), arguments.wait_count, arguments.waits);
  if (const cl_int error = wait_list.error()) return error;
  if (arguments.host == nullptr) return CL_INVALID_VALUE;
  if (const cl_int error = check_host_access(*memory, direction)) return error;
  ImageBox box;
  HostRegion host;
  if (const cl_int error = read_sides(arguments, *memory->image(), box, host)) return error;
  const bool blocking = arguments.blocking != CL_FALSE;
  const WaitingCall counted(queue->connection(), blocking);
  if (direction == Direction::read) {
    return read_image_box({*queue, wait_list, blocking, CL_COMMAND_READ_IMAGE, arguments.event}, *memory, box,
                          host);
  }
  return write_image_box({*queue, wait_list, blocking, CL_COMMAND_WRITE_IMAGE, arguments.event}, *memory, box,
                         host);
}

}  // namespace

cl_int clEnqueueReadImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_read,
                          const size_t* origin, const size_t* region, size_t row_pitch, size_t slice_pitch,
                          void* ptr, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                          cl_event* event) {
  return entry([&] {
    return transfer({command_queue, image, blocking_read, origin, region, row_pitch, slice_pitch, ptr,
                     num_events_in_wait_list, event_wait_list, event},
                    Direction::read);
  });
}

cl_int clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_write,
                           const size_t* origin, const size_t* region, size_t input_row_pitch,
                           size_t input_slice_pitch, const void* ptr, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  return entry([&] {
    return transfer({command_queue, image, blocking_write, origin, region, input_row_pitch, input_slice_pitch,
                     ptr, num_events_in_wait_list, event_wait_list, event},
                    Direction::write);
  });
}

void* clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_map,
                        cl_map_flags map_flags, const size_t* origin, const size_t* region,
                        size_t* image_row_pitch, size_t* image_slice_pitch, cl_uint num_events_in_wait_list,
                        const cl_event* event_wait_list, cl_event* event, cl_int* errcode_ret) {
  return create_entry<void*>(errcode_ret, [&]() -> Outcome<void*> {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    Memory* const memory = downcast<Memory>(image);
    if (const cl_int error = check_image(*queue, memory)) return error;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    const ImageShape& shape = *memory->image();
    if (image_row_pitch == nullptr) return CL_INVALID_VALUE;
    ImageBox box;
    if (const cl_int error = read_box(shape, origin, region, box)) return error;
    if (shape.slice_pitch != 0 && image_slice_pitch == nullptr) return CL_INVALID_VALUE;
    if (const cl_int error = check_map(*memory, map_flags)) return error;
    const WaitingCall counted(queue->connection(), blocking_map != CL_FALSE);
    const auto mapped = map_image_box(
        {*queue, wait_list, blocking_map != CL_FALSE, CL_COMMAND_MAP_IMAGE, event}, *memory, map_flags, box);
    if (mapped.error != CL_SUCCESS) return mapped;
    *image_row_pitch = shape.row_pitch;
    if (image_slice_pitch != nullptr) *image_slice_pitch = shape.slice_pitch;
    return mapped;
  });
}

}  // namespace fairgv::icd
