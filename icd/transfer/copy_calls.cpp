#include "icd/transfer/copy_calls.hpp"

#include <bit>

#include "icd/checks.hpp"
#include "icd/memory/host_region.hpp"
#include "icd/memory/memory.hpp"

namespace fairgv::icd {
namespace {

/// The buffer in which an object's bytes really lie, and their offset.
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

}  // namespace

cl_int make_copy(const Queue& queue, cl_mem source, cl_mem destination, std::size_t source_offset,
                 std::size_t destination_offset, std::size_t bytes, wire::EnqueueCopyBuffer& call) {
  const Memory* const from = downcast<Memory>(source);
  const Memory* const to = downcast<Memory>(destination);
  if (const cl_int error = check_buffer(queue, from)) return error;
  if (const cl_int error = check_buffer(queue, to)) return error;
  return make_copy(*from, *to, source_offset, destination_offset, bytes, call);
}

cl_int make_copy(const Memory& source, const Memory& destination, std::size_t source_offset,
                 std::size_t destination_offset, std::size_t bytes, wire::EnqueueCopyBuffer& call) {
  if (!source.has_range(source_offset, bytes) || !destination.has_range(destination_offset, bytes))
    return CL_INVALID_VALUE;
  if (ranges_overlap(source, source_offset, destination, destination_offset, bytes))
    return CL_MEM_COPY_OVERLAP;
  call = {{}, source.id(), destination.id(), source_offset, destination_offset, bytes};
  return CL_SUCCESS;
}

cl_int make_rect_copy(const Queue& queue, const RectSide& source, const RectSide& destination,
                      const size_t* region, wire::EnqueueCopyBufferRect& call) {
  const Memory* const from = downcast<Memory>(source.buffer);
  const Memory* const to = downcast<Memory>(destination.buffer);
  if (const cl_int error = check_buffer(queue, from)) return error;
  if (const cl_int error = check_buffer(queue, to)) return error;
  if (source.origin == nullptr || destination.origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
  const wire::Extent3 box = extent(region);
  if (box.x == 0 || box.y == 0 || box.z == 0) return CL_INVALID_VALUE;
  RectLayout from_steps;
  RectLayout to_steps;
  if (!resolve_pitches(box, source.row_pitch, source.slice_pitch, from_steps)) return CL_INVALID_VALUE;
  if (!resolve_pitches(box, destination.row_pitch, destination.slice_pitch, to_steps))
    return CL_INVALID_VALUE;
  call = {.command = {},
          .source = from->id(),
          .destination = to->id(),
          .source_origin = extent(source.origin),
          .destination_origin = extent(destination.origin),
          .region = box,
          .source_row_pitch = from_steps.row_pitch,
          .source_slice_pitch = from_steps.slice_pitch,
          .destination_row_pitch = to_steps.row_pitch,
          .destination_slice_pitch = to_steps.slice_pitch};
  return check_rect_copy(*from, *to, call);
}

cl_int make_fill(const Queue& queue, cl_mem buffer, const void* pattern, std::size_t pattern_bytes,
                 std::size_t offset, std::size_t bytes, wire::EnqueueFillBuffer& call) {
  const Memory* const filled = downcast<Memory>(buffer);
  if (const cl_int error = check_buffer(queue, filled)) return error;
  return make_fill(*filled, pattern, pattern_bytes, offset, bytes, call);
}

cl_int make_fill(const Memory& buffer, const void* pattern, std::size_t pattern_bytes, std::size_t offset,
                 std::size_t bytes, wire::EnqueueFillBuffer& call) {
  if (pattern == nullptr || !is_pattern_size(pattern_bytes)) return CL_INVALID_VALUE;
  if (offset % pattern_bytes != 0 || bytes % pattern_bytes != 0) return CL_INVALID_VALUE;
  if (!buffer.has_range(offset, bytes)) return CL_INVALID_VALUE;
  call = {{}, buffer.id(), offset, bytes, {static_cast<const std::byte*>(pattern), pattern_bytes}};
  return CL_SUCCESS;
}

}  // namespace fairgv::icd
