// Entry points: moving data between host and buffers.
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/checks.hpp"
#include "icd/transfer/image_transfers.hpp"
#include "icd/transfer/transfer_commands.hpp"

namespace fairgv::icd {
namespace {

cl_int check_transfer(const Queue& queue, const Memory* memory, const WaitList& wait_list, const void* host,
                      Direction direction) {
  if (const cl_int error = check_buffer(queue, memory)) return error;
  if (const cl_int error = wait_list.error()) return error;
  if (host == nullptr) return CL_INVALID_VALUE;
  return check_host_access(*memory, direction);
}

struct FlatArguments {
  cl_command_queue queue;
  cl_mem buffer;
  cl_bool blocking;
  std::size_t offset;
  std::size_t bytes;
  const void* host;
  cl_uint wait_count;
  const cl_event* waits;
  cl_event* event;
};

cl_int transfer_flat(const FlatArguments& arguments, Direction direction) {
  Queue* const queue = downcast<Queue>(arguments.queue);
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  Memory* const memory = downcast<Memory>(arguments.buffer);
  const WaitList wait_list(queue->context(), arguments.wait_count, arguments.waits);
  if (const cl_int error = check_transfer(*queue, memory, wait_list, arguments.host, direction)) return error;
  const WaitingCall counted(queue->connection(), arguments.blocking != CL_FALSE);
  if (arguments.bytes == 0 && arguments.offset <= memory->bytes()) {
    const cl_command_type type =
        direction == Direction::read ? CL_COMMAND_READ_BUFFER : CL_COMMAND_WRITE_BUFFER;
    return pass_empty({*queue, wait_list, arguments.blocking != CL_FALSE, type, arguments.event}, *memory);
  }
  if (!memory->has_range(arguments.offset, arguments.bytes)) return CL_INVALID_VALUE;
  const BufferRegion region = BufferRegion::flat(*memory, arguments.offset, arguments.bytes);
  const HostRegion host = HostRegion::flat(arguments.host, arguments.bytes);
  const bool blocking = arguments.blocking != CL_FALSE;
  if (direction == Direction::read) {
    return read_region({*queue, wait_list, blocking, CL_COMMAND_READ_BUFFER, arguments.event}, region, host);
  }
  return write_region({*queue, wait_list, blocking, CL_COMMAND_WRITE_BUFFER, arguments.event}, region, host);
}

struct RectArguments {
  cl_command_queue queue;
  cl_mem buffer;
  cl_bool blocking;
  const size_t* buffer_origin;
  const size_t* host_origin;
  const size_t* region;
  std::size_t buffer_row_pitch;
  std::size_t buffer_slice_pitch;
  std::size_t host_row_pitch;
  std::size_t host_slice_pitch;
  const void* host;
  cl_uint wait_count;
  const cl_event* waits;
  cl_event* event;
};

/// Both sides of a rectangle transfer, checked.
cl_int read_rects(const RectArguments& arguments, Memory& memory, BufferRegion& device, HostRegion& host) {
  if (arguments.buffer_origin == nullptr || arguments.host_origin == nullptr || arguments.region == nullptr) {
    return CL_INVALID_VALUE;
  }
  const wire::Extent3 region = extent(arguments.region);
  if (region.x == 0 || region.y == 0 || region.z == 0) return CL_INVALID_VALUE;
  RectLayout on_host;
  if (!resolve_pitches(region, arguments.buffer_row_pitch, arguments.buffer_slice_pitch, device.layout) ||
      !resolve_pitches(region, arguments.host_row_pitch, arguments.host_slice_pitch, on_host)) {
    return CL_INVALID_VALUE;
  }
  device.origin = extent(arguments.buffer_origin);
  device.region = region;
  device.is_rect = true;
  if (!rect_fits(device.origin, region, device.layout, memory.bytes())) return CL_INVALID_VALUE;
  host = HostRegion::flat(arguments.host, 1);
  host.address += rect_offset(extent(arguments.host_origin), on_host);
  host.region = region;
  host.row_pitch = on_host.row_pitch;
  host.slice_pitch = on_host.slice_pitch;
  return CL_SUCCESS;
}

cl_int transfer_rect(const RectArguments& arguments, Direction direction) {
  Queue* const queue = downcast<Queue>(arguments.queue);
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  Memory* const memory = downcast<Memory>(arguments.buffer);
  const WaitList wait_list(queue->context(), arguments.wait_count, arguments.waits);
  if (const cl_int error = check_transfer(*queue, memory, wait_list, arguments.host, direction)) return error;
  BufferRegion device{*memory, {}, {}, {}};
  HostRegion host;
  if (const cl_int error = read_rects(arguments, *memory, device, host)) return error;
  const bool blocking = arguments.blocking != CL_FALSE;
  const WaitingCall counted(queue->connection(), blocking);
  if (direction == Direction::read) {
    return read_region({*queue, wait_list, blocking, CL_COMMAND_READ_BUFFER_RECT, arguments.event}, device,
                       host);
  }
  return write_region({*queue, wait_list, blocking, CL_COMMAND_WRITE_BUFFER_RECT, arguments.event}, device,
                      host);
}

}  // namespace

cl_int clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read,
                           size_t offset, size_t size, void* ptr, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  return entry([&] {
    return transfer_flat({command_queue, buffer, blocking_read, offset, size, ptr, num_events_in_wait_list,
                          event_wait_list, event},
                         Direction::read);
  });
}

cl_int clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write,
                            size_t offset, size_t size, const void* ptr, cl_uint num_events_in_wait_list,
                            const cl_event* event_wait_list, cl_event* event) {
  return entry([&] {
    return transfer_flat({command_queue, buffer, blocking_write, offset, size, ptr, num_events_in_wait_list,
                          event_wait_list, event},
                         Direction::write);
  });
}

cl_int clEnqueueReadBufferRect(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read,
                               const size_t* buffer_origin, const size_t* host_origin, const size_t* region,
                               size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
                               size_t host_slice_pitch, void* ptr, cl_uint num_events_in_wait_list,
                               const cl_event* event_wait_list, cl_event* event) {
  return entry([&] {
    return transfer_rect({command_queue, buffer, blocking_read, buffer_origin, host_origin, region,
                          buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr,
                          num_events_in_wait_list, event_wait_list, event},
                         Direction::read);
  });
}

cl_int clEnqueueWriteBufferRect(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write,
                                const size_t* buffer_origin, const size_t* host_origin, const size_t* region,
                                size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
                                size_t host_slice_pitch, const void* ptr, cl_uint num_events_in_wait_list,
                                const cl_event* event_wait_list, cl_event* event) {
  return entry([&] {
    return transfer_rect({command_queue, buffer, blocking_write, buffer_origin, host_origin, region,
                          buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr,
                          num_events_in_wait_list, event_wait_list, event},
                         Direction::write);
  });
}

void* clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_map,
                         cl_map_flags map_flags, size_t offset, size_t size, cl_uint num_events_in_wait_list,
                         const cl_event* event_wait_list, cl_event* event, cl_int* errcode_ret) {
  return create_entry<void*>(errcode_ret, [&]() -> Outcome<void*> {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    Memory* const memory = downcast<Memory>(buffer);
    if (const cl_int error = check_buffer(*queue, memory)) return error;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    if (!memory->has_range(offset, size)) return CL_INVALID_VALUE;
    if (const cl_int error = check_map(*memory, map_flags)) return error;
    const WaitingCall counted(queue->connection(), blocking_map != CL_FALSE);
    return map_region({*queue, wait_list, blocking_map != CL_FALSE, CL_COMMAND_MAP_BUFFER, event}, *memory,
                      map_flags, offset, size);
  });
}

cl_int clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj, void* mapped_ptr,
                               cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                               cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    Memory* const memory = downcast<Memory>(memobj);
    if (const cl_int error = check_memory(*queue, memory)) return error;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    const TransferRequest request{*queue, wait_list, false, CL_COMMAND_UNMAP_MEM_OBJECT, event};
    return memory->image() != nullptr ? unmap_image_box(request, *memory, mapped_ptr)
                                      : unmap_region(request, *memory, mapped_ptr);
  });
}

}  // namespace fairgv::icd
