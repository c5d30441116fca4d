// How a storm waits for what must happen.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace fairgv::integration::storm {

/// Whether the condition comes true. The bound only keeps a broken daemon from holding the test up for ever:
/// a move may take minutes by its own bounds, and five tenants share a machine that others keep busy, too.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace fairgv::integration::storm
