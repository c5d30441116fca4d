// Prepares an image before the driver gets it: the text in it is rewritten so that launches can run in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "slicing/ptx_slicing/rewrite.hpp"

namespace fairgv::vgpu::cuda {

/// The image as it is has to be loaded, and why.
struct WholeImage {
  std::string why;  // a phrase for people
};

/// The image's text as it is; or why there is none.
std::variant<std::string, WholeImage> text_of(std::span<const std::byte> image, std::uint32_t capability);

/// The image's text for a device of this compute capability (80 of 8.0; 0: unknown), rewritten; or why there
/// is none.
std::variant<slicing::SlicedModule, WholeImage> sliced_image(std::span<const std::byte> image,
                                                             std::uint32_t capability);

}  // namespace fairgv::vgpu::cuda
