// Whether commands stay within the memory objects that they use. The front end sends no others, and a driver
// is not asked about them: its own checks may overflow or be assertions.
//
// Pure. A poisoned object has the bounds that it would have had.
#pragma once

#include <cstdint>

#include "runtime/vgpu/opencl/objects.hpp"
#include "runtime/wire/calls/buffer_commands.hpp"
#include "runtime/wire/calls/image_commands.hpp"
#include "runtime/wire/calls/images.hpp"

namespace fairgv::vgpu::opencl {

bool fits(const wire::EnqueueReadBuffer& call, const Buffer& buffer);
bool fits(const wire::EnqueueWriteBuffer& call, const Buffer& buffer);
bool fits(const wire::EnqueueReadBufferRect& call, const Buffer& buffer);
bool fits(const wire::EnqueueWriteBufferRect& call, const Buffer& buffer);
bool fits(const wire::EnqueueCopyBuffer& call, const Buffer& source, const Buffer& destination);
bool fits(const wire::EnqueueCopyBufferRect& call, const Buffer& source, const Buffer& destination);
/// Also that the pattern has a size that patterns have, and fills the range.
bool fits(const wire::EnqueueFillBuffer& call, const Buffer& buffer);
bool fits(const wire::EnqueueReadImage& call, const Image& image);
bool fits(const wire::EnqueueWriteImage& call, const Image& image);
/// Also that the elements are as large, and neither image is a buffer's row of elements.
bool fits(const wire::EnqueueCopyImage& call, const Image& source, const Image& destination);
bool fits(const wire::EnqueueCopyImageToBuffer& call, const Image& image, const Buffer& buffer);
bool fits(const wire::EnqueueCopyBufferToImage& call, const Buffer& buffer, const Image& image);
bool fits(const wire::EnqueueFillImage& call, const Image& image);

/// Whether a transfer's side in the arena, a range that lies there, is apart from the object's own memory. A
/// direct buffer's memory is in the arena, too, and drivers copy as if nothing overlapped. Of a part, the
/// whole buffer counts: the front end's transfers go by memory of their own.
bool is_apart(wire::ArenaRange range, const Buffer& buffer);
bool is_apart(wire::ArenaRange range, const Image& image);

/// Whether `bytes` bytes from `offset` on lie within `size`.
bool has_range(std::uint64_t size, std::uint64_t offset, std::uint64_t bytes);

/// Elements in each dimension, in the driver's coordinates: an array's layers count as its last dimension.
wire::Extent3 extent_of(const wire::ImageDescription& description);

/// Bytes from the first to behind the last element of an image in another's memory, whose rows are as far
/// apart as the description says; the largest number if that is beyond 64 bits.
std::uint64_t bytes_in_memory(const wire::ImageDescription& description, std::uint64_t element_bytes);

}  // namespace fairgv::vgpu::opencl
