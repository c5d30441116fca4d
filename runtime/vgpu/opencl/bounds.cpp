#include "runtime/vgpu/opencl/bounds.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace fairgv::vgpu::opencl {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kLongestPattern = 128;  // OpenCL 3.0, 5.2.3: of the largest vector

/// A rectangle of a buffer whose rows and slices do not overlap. Pitches as the driver takes them: 0 means no
/// gaps.
bool has_rect(std::uint64_t size, const wire::Extent3& origin, const wire::Extent3& region,
              std::uint64_t row_pitch, std::uint64_t slice_pitch) {
  if (region.x == 0 || region.y == 0 || region.z == 0) return false;
  // Nothing below fits if one of these does not, and no sum below is beyond 128 bits if all do.
  if (std::max({origin.x, origin.y, origin.z, region.x, region.y, region.z}) > size) return false;
  const Wide row = row_pitch != 0 ? row_pitch : region.x;
  const Wide slice = slice_pitch != 0 ? slice_pitch : row * region.y;
  if (row < region.x || slice < row * region.y || slice % row != 0) return false;
  if (size > kLargest / 4) return false;
  const Wide end =
      (Wide{origin.z} + region.z - 1) * slice + (Wide{origin.y} + region.y - 1) * row + origin.x + region.x;
  return end <= size;
}

bool has_box(const wire::Extent3& extent, const wire::Extent3& origin, const wire::Extent3& region) {
  const auto lies = [](std::uint64_t size, std::uint64_t from, std::uint64_t count) {
    return count != 0 && has_range(size, from, count);
  };
  return lies(extent.x, origin.x, region.x) && lies(extent.y, origin.y, region.y) &&
         lies(extent.z, origin.z, region.z);
}

/// Bytes of a box that lies in an image; an image's own bytes can be counted.
std::uint64_t bytes_of(const Image& image, const wire::Extent3& region) {
  const Wide bytes = Wide{region.x} * region.y * region.z * image.element_bytes;
  return bytes > kLargest ? kLargest : static_cast<std::uint64_t>(bytes);
}

template <class Call>
bool fits_rect(const Call& call, const Buffer& buffer) {
  return has_rect(buffer.bytes, call.origin, call.region, call.row_pitch, call.slice_pitch);
}

template <class Call>
bool fits_beside(const Call& call, const Image& image, const Buffer& buffer) {
  return has_box(image.extent, call.origin, call.region) &&
         has_range(buffer.bytes, call.offset, bytes_of(image, call.region));
}

}  // namespace

bool is_apart(wire::ArenaRange range, const Buffer& buffer) {
  for (const Buffer* each = &buffer; each != nullptr; each = each->parent.get()) {
    const wire::ArenaRange& own = each->backing;
    if (range.offset < own.offset + own.bytes && own.offset < range.offset + range.bytes) return false;
  }
  return true;
}

bool is_apart(wire::ArenaRange range, const Image& image) {
  const Object* memory = image.memory.get();
  while (memory != nullptr && memory->kind() == ObjectKind::image) {
    memory = static_cast<const Image*>(memory)->memory.get();
  }
  if (memory == nullptr || memory->kind() != ObjectKind::buffer) return true;
  return is_apart(range, *static_cast<const Buffer*>(memory));
}

bool has_range(std::uint64_t size, std::uint64_t offset, std::uint64_t bytes) {
  return offset <= size && bytes <= size - offset;
}

bool fits(const wire::EnqueueReadBuffer& call, const Buffer& buffer) {
  return has_range(buffer.bytes, call.offset, call.to.bytes);
}

bool fits(const wire::EnqueueWriteBuffer& call, const Buffer& buffer) {
  return has_range(buffer.bytes, call.offset, call.from.bytes);
}

bool fits(const wire::EnqueueReadBufferRect& call, const Buffer& buffer) {
  return fits_rect(call, buffer);
}

bool fits(const wire::EnqueueWriteBufferRect& call, const Buffer& buffer) {
  return fits_rect(call, buffer);
}

bool fits(const wire::EnqueueCopyBuffer& call, const Buffer& source, const Buffer& destination) {
  return has_range(source.bytes, call.source_offset, call.bytes) &&
         has_range(destination.bytes, call.destination_offset, call.bytes);
}

bool fits(const wire::EnqueueCopyBufferRect& call, const Buffer& source, const Buffer& destination) {
  return has_rect(source.bytes, call.source_origin, call.region, call.source_row_pitch,
                  call.source_slice_pitch) &&
         has_rect(destination.bytes, call.destination_origin, call.region, call.destination_row_pitch,
                  call.destination_slice_pitch);
}

bool fits(const wire::EnqueueFillBuffer& call, const Buffer& buffer) {
  const std::size_t pattern = call.pattern.size();
  return std::has_single_bit(pattern) && pattern <= kLongestPattern && call.offset % pattern == 0 &&
         call.bytes % pattern == 0 && has_range(buffer.bytes, call.offset, call.bytes);
}

bool fits(const wire::EnqueueReadImage& call, const Image& image) {
  return has_box(image.extent, call.origin, call.region);
}

bool fits(const wire::EnqueueWriteImage& call, const Image& image) {
  return has_box(image.extent, call.origin, call.region);
}

bool fits(const wire::EnqueueCopyImage& call, const Image& source, const Image& destination) {
  const bool poisoned = source.error != CL_SUCCESS || destination.error != CL_SUCCESS;
  return !source.buffer && !destination.buffer &&
         (poisoned || source.element_bytes == destination.element_bytes) &&
         has_box(source.extent, call.source_origin, call.region) &&
         has_box(destination.extent, call.destination_origin, call.region);
}

bool fits(const wire::EnqueueCopyImageToBuffer& call, const Image& image, const Buffer& buffer) {
  return fits_beside(call, image, buffer);
}

bool fits(const wire::EnqueueCopyBufferToImage& call, const Buffer& buffer, const Image& image) {
  return fits_beside(call, image, buffer);
}

bool fits(const wire::EnqueueFillImage& call, const Image& image) {
  return has_box(image.extent, call.origin, call.region);
}

wire::Extent3 extent_of(const wire::ImageDescription& description) {
  switch (description.type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return {description.width, description.array_size, 1};
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return {description.width, description.height, description.array_size};
    default:
      return {description.width, std::max<std::uint64_t>(description.height, 1),
              std::max<std::uint64_t>(description.depth, 1)};
  }
}

std::uint64_t bytes_in_memory(const wire::ImageDescription& description, std::uint64_t element_bytes) {
  const wire::Extent3 extent = extent_of(description);
  const Wide row = Wide{extent.x} * element_bytes;
  if (row > kLargest) return kLargest;
  const Wide pitch = std::max(row, Wide{description.row_pitch});
  const Wide rows = Wide{extent.y} * extent.z;
  if (rows > kLargest) return kLargest;
  const Wide bytes = rows == 0 ? 0 : pitch * (rows - 1) + row;
  return bytes > kLargest ? kLargest : static_cast<std::uint64_t>(bytes);
}

}  // namespace fairgv::vgpu::opencl
