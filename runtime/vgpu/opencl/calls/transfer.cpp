// Reads and writes: between a buffer or an image and the arena, where the range must lie. The driver's
// function is clEnqueueRead* or clEnqueueWrite*, and is their only difference.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

constexpr std::uint64_t kTooMuch = std::numeric_limits<std::uint64_t>::max();

__extension__ using Wide = unsigned __int128;

/// At least as many bytes of the arena as the driver touches for a box, whichever pitch it goes by.
std::uint64_t arena_bytes(const Image& image, const wire::Extent3& region, std::uint64_t row_pitch,
                          std::uint64_t slice_pitch) {
  // Beyond these no product below fits a 128-bit number; no image is so large.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (std::max({region.x, region.y, region.z, row_pitch, slice_pitch}) > kMost) return kTooMuch;
  if (region.x == 0 || region.y == 0 || region.z == 0) return 0;  // the driver refuses it
  const std::uint64_t row_bytes = region.x * image.element_bytes;
  std::uint64_t row = std::max(row_pitch, row_bytes);
  const bool is_row_array = image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (is_row_array) row = std::max(row, slice_pitch);
  const Wide slice = std::max(Wide{slice_pitch}, Wide{row} * region.y);
  const Wide span = slice * (region.z - 1) + Wide{row} * (region.y - 1) + row_bytes;
  return span < kTooMuch ? static_cast<std::uint64_t>(span) : kTooMuch;
}

constexpr const char* kWithinItself = "its part of the arena is the memory of the object that it names";
constexpr cl_bool kNonBlocking = CL_FALSE;
constexpr std::array<std::size_t, 3> kHostOrigin{0, 0, 0};

}  // namespace

Result<std::byte*> Handlers::arena(wire::ArenaRange range, std::uint64_t needed) const {
  const auto arena = segment_.arena();
  if (range.offset > arena.size() || range.bytes > arena.size() - range.offset || needed > range.bytes) {
    return Error{fmt::format("{} bytes at {}, of which {} are used, do not lie in the arena of {}",
                             range.bytes, range.offset, needed, arena.size())};
  }
  return arena.data() + range.offset;
}

template <class Function, class Call>
Result<void> Handlers::transfer_bytes(Function* function, const Call& call, wire::ArenaRange range) {
  FAIRGV_TRY(found, objects_.get<Buffer>(call.buffer));
  if (!fits(call, *found.value())) return Error{kBeyondBounds};
  FAIRGV_TRY(host, arena(range, range.bytes));
  if (!is_apart(range, *found.value())) return Error{kWithinItself};
  return enqueue(
      call,
      [function, offset = call.offset, bytes = range.bytes, host = host.value()](const ToQueue& to,
                                                                                 const Buffer& buffer) {
        return to(function, buffer.handle.get(), kNonBlocking, offset, bytes, host);
      },
      found.value());
}

template <class Function, class Call>
Result<void> Handlers::transfer_rect(Function* function, const Call& call, wire::ArenaRange range) {
  FAIRGV_TRY(found, objects_.get<Buffer>(call.buffer));
  if (!fits(call, *found.value())) return Error{kBeyondBounds};
  FAIRGV_TRY(host, arena(range, volume(call.region)));
  if (!is_apart(range, *found.value())) return Error{kWithinItself};
  return enqueue(
      call,
      [function, origin = sizes(call.origin), region = sizes(call.region), row_pitch = call.row_pitch,
       slice_pitch = call.slice_pitch, host = host.value()](const ToQueue& to, const Buffer& buffer) {
        return to(function, buffer.handle.get(), kNonBlocking, origin.data(), kHostOrigin.data(),
                  region.data(), row_pitch, slice_pitch, region[0], region[0] * region[1], host);
      },
      found.value());
}

template <class Function, class Call>
Result<void> Handlers::transfer_box(Function* function, const Call& call, wire::ArenaRange range) {
  FAIRGV_TRY(found, objects_.get<Image>(call.image));
  if (!fits(call, *found.value())) return Error{kBeyondBounds};
  FAIRGV_TRY(host, arena(range, arena_bytes(*found.value(), call.region, call.row_pitch, call.slice_pitch)));
  if (!is_apart(range, *found.value())) return Error{kWithinItself};
  return enqueue(
      call,
      [function, origin = sizes(call.origin), region = sizes(call.region), row_pitch = call.row_pitch,
       slice_pitch = call.slice_pitch, host = host.value()](const ToQueue& to, const Image& image) {
        return to(function, image.handle.get(), kNonBlocking, origin.data(), region.data(), row_pitch,
                  slice_pitch, host);
      },
      found.value());
}

Result<void> Handlers::handle(const wire::EnqueueReadBuffer& call) {
  return transfer_bytes(clEnqueueReadBuffer, call, call.to);
}

Result<void> Handlers::handle(const wire::EnqueueWriteBuffer& call) {
  return transfer_bytes(clEnqueueWriteBuffer, call, call.from);
}

Result<void> Handlers::handle(const wire::EnqueueReadBufferRect& call) {
  return transfer_rect(clEnqueueReadBufferRect, call, call.to);
}

Result<void> Handlers::handle(const wire::EnqueueWriteBufferRect& call) {
  return transfer_rect(clEnqueueWriteBufferRect, call, call.from);
}

Result<void> Handlers::handle(const wire::EnqueueReadImage& call) {
  return transfer_box(clEnqueueReadImage, call, call.to);
}

Result<void> Handlers::handle(const wire::EnqueueWriteImage& call) {
  return transfer_box(clEnqueueWriteImage, call, call.from);
}

}  // namespace fairgv::vgpu::opencl
