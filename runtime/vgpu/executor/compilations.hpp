// The compilations for the program that are under way, by whatever thread: counted, and told to the daemon by
// a clock in the turn pages that runs meanwhile (session/compile_clock.hpp). With the executor's lock held.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/session/compile_clock.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/vgpu/turn/offer.hpp"

namespace fairgv::vgpu {

class Compilations {
 public:
  /// Goes on where the clock in the pages stands: another worker may have begun the session.
  explicit Compilations(std::span<session::DeviceTurn> turns) : turns_(turns) {
    if (!turns.empty())
      clock_ = session::CompileClock(turns[0].compile_clock.load(std::memory_order_relaxed));
    if (clock_.runs()) clock_ = {};  // that one has ended in the midst of it
  }

  void begin(TimePoint now) {
    if (++under_way_ == 1) clock_.start(now);
    tell();
  }
  void end(TimePoint now) {
    if (--under_way_ == 0) clock_.stop(now);
    tell();
  }

 private:
  void tell() {
    for (session::DeviceTurn& turn : turns_)
      turn.compile_clock.store(clock_.word(), std::memory_order_relaxed);
  }

  const std::span<session::DeviceTurn> turns_;
  std::uint32_t under_way_ = 0;
  session::CompileClock clock_;
};

}  // namespace fairgv::vgpu
