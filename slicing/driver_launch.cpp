#include "slicing/driver_launch.hpp"

namespace fairgv::slicing {
namespace {

constexpr bool below_power_of_two(std::uint64_t value, unsigned bits) {
  return bits >= 64 || value >> bits == 0;
}

constexpr std::uint64_t missing(const Launch& launch, std::size_t d) {
  const std::uint64_t last = launch.size[d] % launch.local[d];
  return last == 0 ? 0 : launch.local[d] - last;
}

// The words of the offset: the layout of slicing/prelude.cl.
Extent words(const Launch& launch, const Extent& first) {
  const Extent groups = launch.groups();
  switch (launch.dimensions) {
    case 1:
      return {launch.offset[0], groups[0], missing(launch, 0) << 48 | first[0]};
    case 2: {
      const auto word = [&](std::size_t d) {
        return groups[d] << 36 | missing(launch, d) << 24 | launch.offset[d];
      };
      return {word(0), word(1), first[1] << 32 | first[0]};
    }
    default: {
      const auto word = [&](std::size_t d) {
        return first[d] << 46 | groups[d] << 28 | missing(launch, d) << 18 | launch.offset[d];
      };
      return {word(0), word(1), word(2)};
    }
  }
}

// The work-items of a box; a box that ends where the launch does has the smaller last group.
std::uint64_t work_items(const Launch& launch, const Box& box, std::size_t d) {
  const std::uint64_t begin = box.first[d] * launch.local[d];
  const bool last = box.first[d] + box.groups[d] == launch.groups()[d];
  return last ? launch.size[d] - begin : box.groups[d] * launch.local[d];
}

}  // namespace

bool fits(const Launch& launch, std::uint32_t address_bits) {
  if (address_bits < 64 || !launch.is_valid()) return false;
  const CarriedBits& bits = kCarriedBits[launch.dimensions - 1];
  const Extent groups = launch.groups();
  for (std::size_t d = 0; d < launch.dimensions; ++d) {
    if (!below_power_of_two(groups[d], bits.groups)) return false;
    if (!below_power_of_two(missing(launch, d), bits.missing)) return false;
    if (!below_power_of_two(launch.offset[d], bits.offset)) return false;
  }
  // CL_INVALID_GLOBAL_OFFSET. Checked as if every box had the size of the launch and began with its last
  // group.
  const Extent last{groups[0] - 1, groups[1] - 1, groups[2] - 1};
  const Extent largest = words(launch, last);
  for (std::size_t d = 0; d < kMaxDimensions; ++d) {
    if (largest[d] > UINT64_MAX - launch.size[d]) return false;
  }
  return true;
}

std::optional<DriverLaunch> encode(const Launch& launch, const Box& box, std::uint32_t address_bits) {
  if (!fits(launch, address_bits)) return std::nullopt;
  DriverLaunch sub{.offset = words(launch, box.first), .local = launch.local};
  for (std::size_t d = 0; d < kMaxDimensions; ++d) sub.size[d] = work_items(launch, box, d);
  return sub;
}

}  // namespace fairgv::slicing
