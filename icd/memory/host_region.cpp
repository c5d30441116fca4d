#include "icd/memory/host_region.hpp"

#include "icd/transfer/copy_bytes.hpp"

namespace fairgv::icd {
namespace {

/// Calls `row(address, offset in staging)` for each row of the region.
template <class Row>
void for_each_row(const HostRegion& host, Row&& row) {
  std::uint64_t staged = 0;
  for (std::uint64_t z = 0; z < host.region.z; ++z) {
    for (std::uint64_t y = 0; y < host.region.y; ++y) {
      row(host.address + z * host.slice_pitch + y * host.row_pitch, staged);
      staged += host.region.x;
    }
  }
}

__extension__ using Wide = unsigned __int128;

}  // namespace

HostRegion HostRegion::flat(const void* address, std::uint64_t bytes) {
  auto* const first = static_cast<std::byte*>(const_cast<void*>(address));
  return {first, {bytes, 1, 1}, bytes, bytes};
}

void gather(const HostRegion& from, std::byte* staging) {
  if (from.is_flat()) {
    copy_bytes(staging, from.address, from.bytes());
    return;
  }
  for_each_row(from, [&](const std::byte* row, std::uint64_t staged) {
    copy_bytes(staging + staged, row, from.region.x);
  });
}

void scatter(const std::byte* staging, const HostRegion& to) {
  if (to.is_flat()) {
    copy_bytes(to.address, staging, to.bytes());
    return;
  }
  for_each_row(to,
               [&](std::byte* row, std::uint64_t staged) { copy_bytes(row, staging + staged, to.region.x); });
}

void copy_region(const HostRegion& from, const HostRegion& to) {
  if (from.is_flat()) return scatter(from.address, to);
  if (to.is_flat()) return gather(from, to.address);
  for (std::uint64_t z = 0; z < from.region.z; ++z) {
    for (std::uint64_t y = 0; y < from.region.y; ++y) {
      copy_bytes(to.address + z * to.slice_pitch + y * to.row_pitch,
                 from.address + z * from.slice_pitch + y * from.row_pitch, from.region.x);
    }
  }
}

bool resolve_pitches(const wire::Extent3& region, std::uint64_t row_pitch, std::uint64_t slice_pitch,
                     RectLayout& layout) {
  if (row_pitch == 0) row_pitch = region.x;
  if (row_pitch < region.x) return false;
  const Wide rows = Wide{row_pitch} * region.y;
  if (slice_pitch == 0) {
    if (rows > UINT64_MAX) return false;
    slice_pitch = static_cast<std::uint64_t>(rows);
  }
  if (slice_pitch < rows || slice_pitch % row_pitch != 0) return false;
  layout = {row_pitch, slice_pitch};
  return true;
}

std::uint64_t rect_offset(const wire::Extent3& origin, const RectLayout& layout) {
  return origin.z * layout.slice_pitch + origin.y * layout.row_pitch + origin.x;
}

bool rect_fits(const wire::Extent3& origin, const wire::Extent3& region, const RectLayout& layout,
               std::uint64_t bytes) {
  if (origin.x > bytes || origin.y > bytes || origin.z > bytes) return false;
  if (region.x > bytes || region.y > bytes || region.z > bytes) return false;
  const Wide last = (Wide{origin.z} + region.z - 1) * layout.slice_pitch +
                    (Wide{origin.y} + region.y - 1) * layout.row_pitch + origin.x + region.x;
  return last <= bytes;
}

bool rects_overlap(const wire::Extent3& a, const wire::Extent3& b, const wire::Extent3& region,
                   const RectLayout& layout) {
  const std::uint64_t span =
      (region.z - 1) * layout.slice_pitch + (region.y - 1) * layout.row_pitch + region.x;
  const std::uint64_t low = rect_offset(a, layout);
  const std::uint64_t high = rect_offset(b, layout);
  const std::uint64_t distance = low < high ? high - low : low - high;
  if (distance >= span) return false;
  // Rows start at multiples of the pitch from each other, so only the distance within a row and within a
  // slice decides: two rows meet if they are closer than region.x, in a slice if they are closer than
  // region.y rows.
  const std::uint64_t slices = distance / layout.slice_pitch;
  const std::uint64_t in_slice = distance % layout.slice_pitch;
  const auto meets = [&](std::uint64_t slice_distance, std::uint64_t bytes_in_slice, bool forwards) {
    if (slice_distance >= region.z) return false;
    const std::uint64_t rest = forwards ? bytes_in_slice : layout.slice_pitch - bytes_in_slice;
    const std::uint64_t rows = rest / layout.row_pitch;
    const std::uint64_t columns = rest % layout.row_pitch;
    const bool same_side = rows < region.y && columns < region.x;
    const bool other_side = rows + 1 < region.y && layout.row_pitch - columns < region.x;
    return same_side || other_side;
  };
  return meets(slices, in_slice, true) || (in_slice != 0 && meets(slices + 1, in_slice, false));
}

}  // namespace fairgv::icd
