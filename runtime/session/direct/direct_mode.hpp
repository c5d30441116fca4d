// Whether programs may keep the CUDA driver in their own process, without a worker (docs/CUDA.md, Direct
// mode).
#pragma once

#include <iterator>
#include <optional>
#include <string_view>

namespace fairgv::session {

enum class DirectMode {
  off,       // they are refused
  fallback,  // those that ask for it
  on         // those that `fairgv run` starts, too, unless they ask for a worker
};

inline constexpr const char* kDirectModes[] = {"off", "fallback", "on"};  // by DirectMode

constexpr const char* to_text(DirectMode mode) {
  return kDirectModes[static_cast<int>(mode)];
}

/// Nothing if the text is none of these.
constexpr std::optional<DirectMode> parse_direct_mode(std::string_view text) {
  for (std::size_t at = 0; at < std::size(kDirectModes); ++at) {
    if (text == kDirectModes[at]) return static_cast<DirectMode>(at);
  }
  return std::nullopt;
}

}  // namespace fairgv::session
