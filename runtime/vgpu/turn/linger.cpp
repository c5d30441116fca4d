#include "runtime/vgpu/turn/linger.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::vgpu {

/// A long pause outside the turn teaches nothing: the program may just not have got a processor while another
/// tenant had the device.
void Linger::comes_back(TimePoint now) {
  if (!pausing_since_) return;
  const Duration pause = now - *std::exchange(pausing_since_, std::nullopt);
  if (pause > kLongest) return;
  wait_ = std::clamp<Duration>(std::max<Duration>(2 * pause, wait_ - wait_ / kPausesRemembered), kShortest,
                               kLongest);
  long_waits_.paid();
}

bool Linger::begin(Duration keep) {
  if (keep > kLongest) {
    until_ = *pausing_since_ + keep;
    is_kept_ = true;
    return true;
  }
  // A long wait tries now and then whether the program's pauses have become short.
  if (long_waits_.due()) {
    until_ = *pausing_since_ + kLongest;
  } else if (!long_waits_.hopeless()) {
    until_ = *pausing_since_ + wait_;
  } else {
    ended_in_vain();
    return false;
  }
  return true;
}

void Linger::ended_in_vain() {
  if (std::exchange(is_kept_, false)) return;
  wait_ = std::max<Duration>(wait_ * 3 / 4, kShortest);
  long_waits_.failed();
}

}  // namespace fairgv::vgpu
