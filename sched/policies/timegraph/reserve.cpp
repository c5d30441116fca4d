#include "sched/policies/timegraph/reserve.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::sched {

Reserve::Reserve(const Reservation& reservation, Enforcement enforcement, Time now)
    : capacity_(reservation.budget),
      period_(reservation.period),
      enforcement_(enforcement),
      budget_(capacity_),
      next_(now + period_) {}

void Reserve::configure(const Reservation& reservation, Enforcement enforcement, Time now) {
  capacity_ = reservation.budget;
  period_ = reservation.period;
  enforcement_ = enforcement;
  budget_ = std::min(budget_, capacity_);
  next_ = std::min(next_, now + period_);
}

void Reserve::advance(Time now, Duration x) {
  if (now < next_) return;
  const Duration::rep times = (now - next_) / period_ + 1;
  replenish(times, relevant(x));
  next_ += times * period_;
}

void Reserve::replenish(Duration::rep times, Duration x) {
  if (enforces_before() && x <= capacity_) {
    budget_ = capacity_;
    return;
  }
  const Duration most = enforces_before() ? x : capacity_;
  const bool enough = budget_ >= most || times >= replenishments_to(most);
  budget_ = enough ? most : budget_ + times * capacity_;
}

void Reserve::charge(Duration used) {
  budget_ -= std::max(used, Duration(0));
}

bool Reserve::allows(Duration x) const {
  return whole_device() || (budget_ > Duration(0) && budget_ >= relevant(x));
}

Time Reserve::allowed_at(Duration x) const {
  if (enforces_before() && x <= capacity_) return next_;
  return after(replenishments_to(std::max(relevant(x), Duration(1))));
}

std::optional<Time> Reserve::full_at() const {
  if (whole_device() || budget_ >= capacity_) return std::nullopt;
  return after(enforces_before() ? 1 : replenishments_to(capacity_));
}

/// As many as make so large a budget of this one; at least one.
Duration::rep Reserve::replenishments_to(Duration budget) const {
  const Duration missing = budget - budget_;
  if (missing <= Duration(0)) return 1;
  return missing / capacity_ + (missing % capacity_ > Duration(0) ? 1 : 0);
}

Time Reserve::after(Duration::rep replenishments) const {
  if (replenishments - 1 > (Time::max() - next_) / period_) return Time::max();
  return next_ + (replenishments - 1) * period_;
}

void Reserve::restore(const ReserveState& state, Time now) {
  // The tasks of a shared reserve bring one state each, and the smallest budget counts.
  const bool first = !std::exchange(restored_, true);
  budget_ = first ? state.left : std::min(budget_, state.left);
  if (!enforces_before()) budget_ = std::min(budget_, capacity_);
  next_ = std::min(first ? state.replenished : std::max(next_, state.replenished), now + period_);
}

}  // namespace fairgv::sched
