// Entry points: commands on buffers that need nothing of the host's memory.
#include <bit>

#include "icd/api.hpp"
#include "icd/checks.hpp"
#include "icd/command.hpp"
#include "icd/entry.hpp"
#include "icd/host_region.hpp"

namespace fairgv::icd {
namespace {

wire::Extent3 extent(const size_t* values) {
  return {values[0], values[1], values[2]};
}

/// The buffer in which an object's bytes really lie, and from where.
struct Place {
  const Memory* buffer;
  std::uint64_t origin;
};

Place place_of(const Memory& memory) {
  return memory.parent() != nullptr ? Place{memory.parent(), memory.origin()} : Place{&memory, 0};
}

bool ranges_overlap(const Memory& a, std::uint64_t a_offset, const Memory& b, std::uint64_t b_offset,
                    std::uint64_t bytes) {
  const Place first = place_of(a);
  const Place second = place_of(b);
  const std::uint64_t from = first.origin + a_offset;
  const std::uint64_t to = second.origin + b_offset;
  return first.buffer == second.buffer && from < to + bytes && to < from + bytes;
}

cl_int check_rect_copy(const Memory& source, const Memory& destination,
                       const wire::EnqueueCopyBufferRect& call) {
  const RectLayout from{call.source_row_pitch, call.source_slice_pitch};
  const RectLayout to{call.destination_row_pitch, call.destination_slice_pitch};
  if (!rect_fits(call.source_origin, call.region, from, source.bytes()) ||
      !rect_fits(call.destination_origin, call.region, to, destination.bytes())) {
    return CL_INVALID_VALUE;
  }
  if (&source != &destination) return CL_SUCCESS;
  const bool same_layout = from.row_pitch == to.row_pitch && from.slice_pitch == to.slice_pitch;
  if (!same_layout) return CL_INVALID_VALUE;
  return rects_overlap(call.source_origin, call.destination_origin, call.region, from) ? CL_MEM_COPY_OVERLAP
                                                                                       : CL_SUCCESS;
}

bool is_pattern_size(std::size_t bytes) {
  return std::has_single_bit(bytes) && bytes <= 128;
}

}  // namespace

cl_int clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
                           size_t src_offset, size_t dst_offset, size_t size, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const Memory* const source = downcast<Memory>(src_buffer);
    const Memory* const destination = downcast<Memory>(dst_buffer);
    if (const cl_int error = check_buffer(*queue, source)) return error;
    if (const cl_int error = check_buffer(*queue, destination)) return error;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    if (!source->has_range(src_offset, size) || !destination->has_range(dst_offset, size))
      return CL_INVALID_VALUE;
    if (ranges_overlap(*source, src_offset, *destination, dst_offset, size)) return CL_MEM_COPY_OVERLAP;
    wire::EnqueueCopyBuffer call{{}, source->id(), destination->id(), src_offset, dst_offset, size};
    return enqueue(*queue, call, wait_list, CL_COMMAND_COPY_BUFFER, event);
  });
}

cl_int clEnqueueCopyBufferRect(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
                               const size_t* src_origin, const size_t* dst_origin, const size_t* region,
                               size_t src_row_pitch, size_t src_slice_pitch, size_t dst_row_pitch,
                               size_t dst_slice_pitch, cl_uint num_events_in_wait_list,
                               const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const Memory* const source = downcast<Memory>(src_buffer);
    const Memory* const destination = downcast<Memory>(dst_buffer);
    if (const cl_int error = check_buffer(*queue, source)) return error;
    if (const cl_int error = check_buffer(*queue, destination)) return error;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    if (src_origin == nullptr || dst_origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
    const wire::Extent3 box = extent(region);
    if (box.x == 0 || box.y == 0 || box.z == 0) return CL_INVALID_VALUE;
    RectLayout from;
    RectLayout to;
    if (!resolve_pitches(box, src_row_pitch, src_slice_pitch, from)) return CL_INVALID_VALUE;
    if (!resolve_pitches(box, dst_row_pitch, dst_slice_pitch, to)) return CL_INVALID_VALUE;
    wire::EnqueueCopyBufferRect call{.command = {},
                                     .source = source->id(),
                                     .destination = destination->id(),
                                     .source_origin = extent(src_origin),
                                     .destination_origin = extent(dst_origin),
                                     .region = box,
                                     .source_row_pitch = from.row_pitch,
                                     .source_slice_pitch = from.slice_pitch,
                                     .destination_row_pitch = to.row_pitch,
                                     .destination_slice_pitch = to.slice_pitch};
    if (const cl_int error = check_rect_copy(*source, *destination, call)) return error;
    return enqueue(*queue, call, wait_list, CL_COMMAND_COPY_BUFFER_RECT, event);
  });
}

cl_int clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer, const void* pattern,
                           size_t pattern_size, size_t offset, size_t size, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const Memory* const memory = downcast<Memory>(buffer);
    if (const cl_int error = check_buffer(*queue, memory)) return error;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    if (pattern == nullptr || !is_pattern_size(pattern_size)) return CL_INVALID_VALUE;
    if (offset % pattern_size != 0 || size % pattern_size != 0) return CL_INVALID_VALUE;
    if (!memory->has_range(offset, size)) return CL_INVALID_VALUE;
    wire::EnqueueFillBuffer call{
        {}, memory->id(), offset, size, {static_cast<const std::byte*>(pattern), pattern_size}};
    return enqueue(*queue, call, wait_list, CL_COMMAND_FILL_BUFFER, event);
  });
}

// A hint. Where objects lie is the driver's business; the command takes its place among the others.
cl_int clEnqueueMigrateMemObjects(cl_command_queue command_queue, cl_uint num_mem_objects,
                                  const cl_mem* mem_objects, cl_mem_migration_flags flags,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                  cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    if (num_mem_objects == 0 || mem_objects == nullptr) return CL_INVALID_VALUE;
    constexpr cl_mem_migration_flags kKnown =
        CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if ((flags & ~kKnown) != 0) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < num_mem_objects; ++i) {
      if (const cl_int error = check_memory(*queue, downcast<Memory>(mem_objects[i]))) return error;
    }
    wire::EnqueueMarker call;
    return enqueue(*queue, call, wait_list, CL_COMMAND_MIGRATE_MEM_OBJECTS, event);
  });
}

}  // namespace fairgv::icd
