// Handles as text, for pipes.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string>

/// Of memory or of an event.
template <typename Handle>
std::string text_of(const Handle& handle) {
  std::string text;
  char digits[3];
  for (const char byte : handle.reserved) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text;
}

template <typename Handle = CUipcMemHandle>
Handle handle_of(const std::string& text) {
  Handle handle{};
  for (std::size_t at = 0; at < sizeof handle.reserved && 2 * at + 1 < text.size(); ++at)
    handle.reserved[at] = static_cast<char>(std::stoi(text.substr(2 * at, 2), nullptr, 16));
  return handle;
}
