// The levels of mipmapped arrays, on which front end and worker must agree (CUDA Driver API,
// "cuMipmappedArrayCreate"). Pure.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace fairgv::wire::cuda {

/// Of an array, in elements. 0: the array does not have this dimension.
struct ArrayExtents {
  std::uint64_t width = 0, height = 0, depth = 0;
  friend bool operator==(const ArrayExtents&, const ArrayExtents&) = default;
};

/// `layers`: depth counts layers or faces, which every level has.
constexpr ArrayExtents level_extents(const ArrayExtents& first, bool layers, unsigned level) {
  const auto at_level = [level](std::uint64_t extent) {
    if (extent == 0) return extent;
    return std::max<std::uint64_t>(1, level < 64 ? extent >> level : 0);
  };
  return {at_level(first.width), at_level(first.height), layers ? first.depth : at_level(first.depth)};
}

/// One more for each halving of the largest extent. `first` has a width.
constexpr unsigned most_levels(const ArrayExtents& first, bool layers) {
  const std::uint64_t largest = std::max({first.width, first.height, layers ? 0 : first.depth});
  return static_cast<unsigned>(std::bit_width(largest));
}

}  // namespace fairgv::wire::cuda
