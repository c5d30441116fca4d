// Who serves the session's calls: one thread at a time has the helm.
//
// Usually the loop thread. After the last command of a program that waits for each, the driver's thread that
// reports its end takes it for a moment (Worker::stand_in).
#pragma once

#include <atomic>
#include <cstdint>

namespace fairgv::vgpu {

/// Nobody waits in here: who does not get the helm goes on without it, or sleeps on a bell of its own that
/// the other rings after letting go.
class Helm {
 public:
  bool try_take() {
    std::uint32_t state = kFree;
    // Acquire: pairs with the release in let_go(); what the one before did is seen.
    return state_.compare_exchange_strong(state, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  /// As try_take(), but who has the helm hears that it is wanted.
  bool take_or_want() {
    for (;;) {
      if (try_take()) return true;
      std::uint32_t state = kTaken;
      // Release: pairs with the acquire in let_go(), so that a bell that was armed before is found armed.
      if (state_.compare_exchange_strong(state, kWanted, std::memory_order_release,
                                         std::memory_order_relaxed) ||
          state == kWanted) {
        return false;
      }
    }
  }

  /// True if somebody wanted it meanwhile, whose bell is then to be rung.
  bool let_go() { return state_.exchange(kFree, std::memory_order_acq_rel) == kWanted; }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kTaken = 1;
  static constexpr std::uint32_t kWanted = 2;  // taken, too

  std::atomic<std::uint32_t> state_{kFree};
};

}  // namespace fairgv::vgpu
