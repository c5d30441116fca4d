// Cutting a box of bytes into pieces that staging can hold. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda-shim/api/memory/copy.hpp"

namespace fairgv::cuda::remote {

/// A part of a box: where it begins, in bytes, rows and slices, and how large it is.
struct Piece {
  std::size_t x = 0, y = 0, z = 0;
  Extent extent;
};

/// Calls `take(piece)` for pieces of at most `most` bytes (> 0) that make up the box, in the order of its
/// bytes. Pieces are whole slices, or else whole rows, or else parts of rows. If `take` does not return
/// CUDA_SUCCESS, ends early with that code.
template <typename Take>
CUresult for_each_piece(const Extent& box, std::size_t most, const Take& take) {
  const std::size_t width = std::min(box.width, most);
  const std::size_t height =
      width < box.width ? 1 : std::min(box.height, std::max<std::size_t>(1, most / width));
  const std::size_t depth =
      height < box.height ? 1 : std::min(box.depth, std::max<std::size_t>(1, most / width / height));
  for (std::size_t z = 0; z < box.depth; z += depth) {
    for (std::size_t y = 0; y < box.height; y += height) {
      for (std::size_t x = 0; x < box.width; x += width) {
        const Piece piece{x,
                          y,
                          z,
                          {std::min(width, box.width - x), std::min(height, box.height - y),
                           std::min(depth, box.depth - z)}};
        if (const CUresult code = take(piece); code != CUDA_SUCCESS) return code;
      }
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::remote
