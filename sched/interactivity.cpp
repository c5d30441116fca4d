#include "sched/interactivity.hpp"

#include <algorithm>

namespace fairgv::sched {

void InteractivityClassifier::observe(std::uint32_t calls, Time now) {
  const std::uint32_t added = calls - seen_;
  seen_ = calls;
  // A count that jumps comes from a client that scribbles; such a client can only cause its own waking.
  calls_ += std::min(added, kMostPatientCalls + 1);
  if (calls_ > kMostPatientCalls) {
    interactive_ = true;
    calls_ = kMostPatientCalls + 1;  // never wraps
  }
  if (running_since_) advance(now);
  running_since_ = now;
}

void InteractivityClassifier::suspend(Time now) {
  if (running_since_) advance(now);
  running_since_.reset();
}

void InteractivityClassifier::advance(Time now) {
  in_window_ += now - *running_since_;
  if (in_window_ < kWindow) return;
  interactive_ = calls_ > kMostPatientCalls;
  in_window_ = Duration(0);
  calls_ = 0;
}

}  // namespace fairgv::sched
