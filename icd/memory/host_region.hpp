// Where a transfer's data lies in the application's memory, and copying between there and staging memory, in
// which a region lies without gaps. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/wire/calls.hpp"

namespace fairgv::icd {

/// A box of `region.x` bytes by `region.y` rows by `region.z` slices, the first byte at `address`. Rows are
/// `row_pitch` bytes apart, slices `slice_pitch`.
struct HostRegion {
  std::byte* address = nullptr;
  wire::Extent3 region;
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;

  static HostRegion flat(const void* address, std::uint64_t bytes);

  /// Bytes of the region, without gaps.
  std::uint64_t bytes() const { return region.x * region.y * region.z; }
  /// Bytes from the first to behind the last byte, with gaps.
  std::uint64_t span() const { return (region.z - 1) * slice_pitch + (region.y - 1) * row_pitch + region.x; }
  bool is_flat() const { return span() == bytes(); }
};

/// Copies the region to `staging`, which has region.bytes() bytes.
void gather(const HostRegion& from, std::byte* staging);

/// Copies `staging` to the region; bytes in gaps keep their values.
void scatter(const std::byte* staging, const HostRegion& to);

/// Copies one region to another of the same extent, row by row where either has gaps.
void copy_region(const HostRegion& from, const HostRegion& to);

/// A rectangle as the OpenCL calls give it (OpenCL 3.0, 5.2.4): pitches of 0 stand for "no gaps".
struct RectLayout {
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;
};

/// The pitches meant by `row_pitch` and `slice_pitch` for `region`; false if they are too small or do not fit
/// each other (CL_INVALID_VALUE).
bool resolve_pitches(const wire::Extent3& region, std::uint64_t row_pitch, std::uint64_t slice_pitch,
                     RectLayout& layout);

/// Offset of the first byte of a rectangle.
std::uint64_t rect_offset(const wire::Extent3& origin, const RectLayout& layout);

/// Whether the rectangle lies within `bytes` bytes; safe against overflow.
bool rect_fits(const wire::Extent3& origin, const wire::Extent3& region, const RectLayout& layout,
               std::uint64_t bytes);

/// Whether two rectangles of the same buffer with the same pitches share a byte (OpenCL 3.0, appendix on
/// CL_MEM_COPY_OVERLAP).
bool rects_overlap(const wire::Extent3& a, const wire::Extent3& b, const wire::Extent3& region,
                   const RectLayout& layout);

}  // namespace fairgv::icd
