// Decides which thread serves the session's calls: one thread at a time has the helm.
//
// Usually that is the loop thread. After the last command of a program that waits for each, the driver's
// thread that reports the command's end takes the helm for a moment (Worker::stand_in). Functions for the
// holder alone ask for a Held.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace fairgv::vgpu {

/// Nobody waits in here: a thread that does not get the helm goes on without it, or sleeps on a bell of its
/// own that the holder rings after letting go.
class Helm {
 public:
  /// Says that its owner has the helm. There is one at most.
  class [[nodiscard]] Held {
   public:
    Held(Held&&) noexcept = default;
    Held& operator=(Held&&) noexcept = default;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() = default;

   private:
    friend class Helm;
    Held() = default;
  };

  std::optional<Held> try_take() {
    if (!take()) return std::nullopt;
    return Held();
  }

  /// As try_take(), but the helm's holder hears that it is wanted.
  std::optional<Held> take_or_want() {
    for (;;) {
      if (take()) return Held();
      std::uint32_t state = kTaken;
      // Release: pairs with the acquire in let_go(), so that a bell that was armed before is found armed.
      if (state_.compare_exchange_strong(state, kWanted, std::memory_order_release,
                                         std::memory_order_relaxed) ||
          state == kWanted) {
        return std::nullopt;
      }
    }
  }

  /// True if a thread wanted the helm meanwhile: its bell is then to be rung.
  bool let_go(Held&&) { return state_.exchange(kFree, std::memory_order_acq_rel) == kWanted; }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kTaken = 1;
  static constexpr std::uint32_t kWanted = 2;  // taken, too

  bool take() {
    std::uint32_t state = kFree;
    // Acquire: pairs with the release in let_go(); everything that the previous holder did is seen.
    return state_.compare_exchange_strong(state, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  std::atomic<std::uint32_t> state_{kFree};
};

}  // namespace fairgv::vgpu
