#include "cuda-shim/driver/devices/visible.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>

namespace fairgv::cuda::remote {
namespace {

std::string uuid_text(const wire::cuda::DeviceFacts& device) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < device.uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = std::to_integer<unsigned>(device.uuid[i]);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Nothing if the entry names no device, or several.
std::optional<std::uint32_t> device_of(std::string_view entry,
                                       const std::vector<wire::cuda::DeviceFacts>& devices) {
  std::uint32_t ordinal = 0;
  const auto [end, error] = std::from_chars(entry.begin(), entry.end(), ordinal);
  if (error == std::errc{} && end == entry.end()) {
    return ordinal < devices.size() ? std::optional(ordinal) : std::nullopt;
  }
  if (!entry.starts_with("GPU-")) return std::nullopt;
  const auto is_meant = [entry](const wire::cuda::DeviceFacts& device) {
    return uuid_text(device).starts_with(entry);
  };
  const auto found = std::find_if(devices.begin(), devices.end(), is_meant);
  if (found == devices.end() || std::find_if(found + 1, devices.end(), is_meant) != devices.end()) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(found - devices.begin());
}

}  // namespace

std::vector<std::uint32_t> visible_devices(std::optional<std::string_view> wanted,
                                           const std::vector<wire::cuda::DeviceFacts>& devices) {
  std::vector<std::uint32_t> ordinals;
  if (!wanted) {
    ordinals.resize(devices.size());
    std::iota(ordinals.begin(), ordinals.end(), 0U);
    return ordinals;
  }
  for (std::string_view rest = *wanted; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const auto device = device_of(trimmed(rest.substr(0, comma)), devices);
    if (!device || std::find(ordinals.begin(), ordinals.end(), *device) != ordinals.end()) break;
    ordinals.push_back(*device);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return ordinals;
}

}  // namespace fairgv::cuda::remote
