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
  explicit Compilations(std::span<session::DeviceTurn> turns) : turns_(turns) {}

  void begin(TimePoint now) {
    if (++under_way_ == 1 && told_) clock_.start(now);
    tell();
  }
  void end(TimePoint now) {
    if (--under_way_ == 0 && told_) clock_.stop(now);
    tell();
  }
  /// The pages are another worker's until take_over(), which goes on where its clock stands.
  void leave_to_another() { told_ = false; }
  void take_over(TimePoint now) {
    told_ = true;
    if (!turns_.empty())
      clock_ = session::CompileClock(turns_[0].compile_clock.load(std::memory_order_relaxed));
    if (clock_.runs()) clock_ = {};  // the other worker was told to go in the midst of it
    if (under_way_ > 0) clock_.start(now);
    tell();
  }

 private:
  void tell() {
    if (!told_) return;
    for (session::DeviceTurn& turn : turns_)
      turn.compile_clock.store(clock_.word(), std::memory_order_relaxed);
  }

  const std::span<session::DeviceTurn> turns_;
  bool told_ = true;
  std::uint32_t under_way_ = 0;
  session::CompileClock clock_;
};

}  // namespace fairgv::vgpu
