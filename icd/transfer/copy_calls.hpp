// Copies and fills of buffers, checked and put into calls: the same for a queue, which runs them, and for a
// command buffer, which records them. Each function takes the application's own arguments and returns
// CL_SUCCESS and fills everything of `call` but its command, or returns the error that the specification
// names (OpenCL 3.0, 5.2.2 to 5.2.4). Any thread.
#pragma once

#include <bit>
#include <cstddef>

#include "icd/memory/memory.hpp"
#include "icd/objects/queue.hpp"
#include "runtime/wire/calls/buffer_commands.hpp"

namespace fairgv::icd {

/// clEnqueueCopyBuffer: bytes.
cl_int make_copy(const Queue& queue, cl_mem source, cl_mem destination, std::size_t source_offset,
                 std::size_t destination_offset, std::size_t bytes, wire::EnqueueCopyBuffer& call);
cl_int make_copy(const Memory& source, const Memory& destination, std::size_t source_offset,
                 std::size_t destination_offset, std::size_t bytes, wire::EnqueueCopyBuffer& call);

/// One side of a rectangular copy, as the application gives it: `origin` has three elements; pitches of 0
/// mean "no gaps".
struct RectSide {
  cl_mem buffer;
  const size_t* origin;
  std::size_t row_pitch;
  std::size_t slice_pitch;
};

/// clEnqueueCopyBufferRect. `region` has three elements.
cl_int make_rect_copy(const Queue& queue, const RectSide& source, const RectSide& destination,
                      const size_t* region, wire::EnqueueCopyBufferRect& call);

/// Whether a fill's pattern may have so many bytes.
constexpr bool is_pattern_size(std::size_t bytes) {
  return std::has_single_bit(bytes) && bytes <= 128;
}

/// clEnqueueFillBuffer. The call refers to `pattern`.
cl_int make_fill(const Queue& queue, cl_mem buffer, const void* pattern, std::size_t pattern_bytes,
                 std::size_t offset, std::size_t bytes, wire::EnqueueFillBuffer& call);
cl_int make_fill(const Memory& buffer, const void* pattern, std::size_t pattern_bytes, std::size_t offset,
                 std::size_t bytes, wire::EnqueueFillBuffer& call);

}  // namespace fairgv::icd
