// The machine code that a driver has made. PoCL makes it when a launch comes to run, for the launch's local
// size.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

namespace fairgv::vgpu {

/// Whether the driver has made machine code for launches of one kind, or is at it: as they are, and for their
/// parts. Set by the loop thread, looked at by any.
class MadeCode {
 public:
  // Relaxed: a thread that sees it too late only sends a launch to the driver ahead of its turn for nothing.
  bool is_made(bool in_parts) const { return of(in_parts).load(std::memory_order_relaxed); }
  void set_made(bool in_parts) { (in_parts ? parts_ : whole_).store(true, std::memory_order_relaxed); }

 private:
  const std::atomic<bool>& of(bool in_parts) const { return in_parts ? parts_ : whole_; }

  std::atomic<bool> whole_{false};
  std::atomic<bool> parts_{false};
};

/// PoCL makes code of its own for launches in which no dimension has more work-items than this.
template <class Size>
bool is_small_grid(const std::array<Size, 3>& global) {
  constexpr Size kSmallGrid = 65'535;
  return *std::max_element(global.begin(), global.end()) <= kSmallGrid;
}

}  // namespace fairgv::vgpu
