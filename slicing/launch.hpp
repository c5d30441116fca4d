// A kernel launch as a value, which is cut, and a box of its work-groups, which is a piece.
//
// Sizes are counted in work-items, boxes in work-groups, dimension 0 first (it is the fastest). The words are
// those of OpenCL (clEnqueueNDRangeKernel); work-groups are the thread blocks of CUDA and of the paper.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace fairgv::slicing {

inline constexpr std::uint32_t kMaxDimensions = 3;

using Extent = std::array<std::uint64_t, kMaxDimensions>;

// The product of all three; nothing if it does not fit 64 bits.
constexpr std::optional<std::uint64_t> volume(const Extent& extent) {
  std::uint64_t product = 1;
  for (const std::uint64_t factor : extent) {
    if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  }
  return product;
}

// Work-groups `first[d]` to `first[d] + groups[d] - 1` of every dimension.
struct Box {
  Extent first{0, 0, 0};
  Extent groups{1, 1, 1};
  friend bool operator==(const Box&, const Box&) = default;
};

// The application's launch, with the local size resolved: never zero. If the local size does not divide the
// global size, the last group of the dimension is smaller (OpenCL C 2.0 and newer). Dimensions that are not
// in use keep the values they have here.
struct Launch {
  std::uint32_t dimensions = 1;  // 1 to 3
  Extent offset{0, 0, 0};        // of the global ids, given by the application
  Extent size{1, 1, 1};
  Extent local{1, 1, 1};

  friend bool operator==(const Launch&, const Launch&) = default;

  // Work-groups of each dimension.
  constexpr Extent groups() const {
    Extent count{};
    for (std::size_t d = 0; d < kMaxDimensions; ++d) {
      count[d] = size[d] / local[d] + (size[d] % local[d] != 0 ? 1 : 0);
    }
    return count;
  }

  constexpr Box whole() const { return {.first = {0, 0, 0}, .groups = groups()}; }

  // Whether the rest of this room can work with the launch: all of the above holds, the launch has
  // work-items, and neither a global id nor the number of work-groups passes 64 bits. An invalid launch runs
  // as the application sent it.
  constexpr bool is_valid() const {
    if (dimensions < 1 || dimensions > kMaxDimensions) return false;
    for (std::size_t d = 0; d < kMaxDimensions; ++d) {
      if (size[d] == 0 || local[d] == 0) return false;
      if (size[d] > UINT64_MAX - offset[d]) return false;
      if (d >= dimensions && (offset[d] != 0 || size[d] != 1 || local[d] != 1)) return false;
    }
    return volume(groups()).has_value();
  }
};

}  // namespace fairgv::slicing
