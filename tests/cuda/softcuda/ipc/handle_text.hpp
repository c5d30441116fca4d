// Handles as text, for pipes.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string>

inline std::string text_of(const CUipcMemHandle& handle) {
  std::string text;
  char digits[3];
  for (const char byte : handle.reserved) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text;
}

inline CUipcMemHandle handle_of(const std::string& text) {
  CUipcMemHandle handle{};
  for (std::size_t at = 0; at < sizeof handle.reserved && 2 * at + 1 < text.size(); ++at)
    handle.reserved[at] = static_cast<char>(std::stoi(text.substr(2 * at, 2), nullptr, 16));
  return handle;
}
