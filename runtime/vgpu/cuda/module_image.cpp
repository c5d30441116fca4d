#include "runtime/vgpu/cuda/module_image.hpp"

#include <fmt/core.h>

#include <cstring>

#include "runtime/fatbin/fatbin.hpp"

namespace fairgv::vgpu::cuda {
namespace {

bool begins_with(std::span<const std::byte> image, std::string_view magic) {
  return image.size() >= magic.size() && std::memcmp(image.data(), magic.data(), magic.size()) == 0;
}

}  // namespace

/// Itself, or the one in a fatbin.
std::variant<std::string, WholeImage> text_of(std::span<const std::byte> image, std::uint32_t capability) {
  const WholeImage machine_code{"its program has machine code only and no PTX"};
  if (begins_with(image,
                  "\x7f"
                  "ELF"))
    return machine_code;
  if (!fatbin::fatbin_bytes(image)) {
    std::string text(reinterpret_cast<const char*>(image.data()), image.size());
    text.resize(std::strlen(text.c_str()));
    return text;
  }
  auto ptx = fatbin::ptx_of_fatbin(image, capability);
  if (!ptx) return WholeImage{"its image cannot be read: " + ptx.error().message};
  if (!ptx->text) return machine_code;
  return std::move(*ptx->text);
}

std::variant<slicing::SlicedModule, WholeImage> sliced_image(std::span<const std::byte> image,
                                                             std::uint32_t capability) {
  auto text = text_of(image, capability);
  if (auto* const whole = std::get_if<WholeImage>(&text)) return std::move(*whole);
  auto sliced = slicing::rewrite_for_slicing(std::get<std::string>(text));
  if (const auto* const error = std::get_if<slicing::RewriteError>(&sliced)) {
    return WholeImage{fmt::format("its PTX cannot be rewritten (line {}: {})", error->line, error->message)};
  }
  return std::get<slicing::SlicedModule>(std::move(sliced));
}

}  // namespace fairgv::vgpu::cuda
