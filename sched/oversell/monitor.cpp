#include "sched/oversell/monitor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fairgv::sched::oversell {
namespace {

/// "Some discrepancy is allowed".
constexpr double kAllowedUnits = 1;

Share part_of_period(Duration busy) {
  const auto ppm =
      static_cast<double>(busy.count()) / static_cast<double>(kPeriod.count()) * Share::kWholePpm;
  return {static_cast<std::uint32_t>(std::clamp(ppm, 0.0, 1.0 * Share::kWholePpm))};
}

template <typename Value>
void remember(std::deque<Value>& values, Value value, std::size_t most) {
  values.push_back(value);
  if (values.size() > most) values.pop_front();
}

}  // namespace

const Load& Monitor::observe(const Observation& seen, Share cap) {
  ++seconds_;
  remember(units_, seen.units, kLongestWindow);
  load_.cap = cap;
  load_.used = part_of_period(seen.busy);
  load_.utilisation = cap.ppm > 0 ? static_cast<double>(load_.used.ppm) / cap.ppm : 0;
  load_.target = target_;
  load_.level = level();
  const double window = static_cast<double>(std::min(window_seconds(), units_.size()));
  const double missing = target_ - load_.level;
  load_.needed = needed_for_target(load_.used, load_.level);
  load_.is_new = seconds_ < kNewFor;
  starts_ = starts_ && !has_started(missing * window);
  if (starts_) return load_;
  load_.shortfall = missing * window > kAllowedUnits ? std::min(missing / target_, 1.0) : 0;
  remember(demands_, std::min(std::max(load_.used, load_.needed), initial_), kMemory);
  load_.demand = *std::max_element(demands_.begin(), demands_.end());
  return load_;
}

bool Monitor::has_started(double missing_units) const {
  return target_ <= 0 || !load_.is_new || missing_units <= kAllowedUnits;
}

void Monitor::set_initial(Share initial, Share cap) {
  if (initial > initial_) {
    seconds_ = 0;
    load_.is_new = true;
  }
  initial_ = load_.initial = initial;
  load_.cap = cap;
  for (Share& demand : demands_) demand = std::min(demand, initial);
  load_.used = std::min(load_.used, initial);
  load_.needed = std::min(load_.needed, initial);
  load_.demand = std::min(load_.demand, initial);
}

std::size_t Monitor::window_seconds() const {
  if (target_ <= 0) return 1;
  if (target_ * static_cast<double>(kLongestWindow) <= kLeastUnits) return kLongestWindow;
  return static_cast<std::size_t>(std::max(std::ceil(kLeastUnits / target_), 1.0));
}

double Monitor::level() const {
  const std::size_t window = std::min(window_seconds(), units_.size());
  const auto first = units_.end() - static_cast<std::ptrdiff_t>(window);
  return static_cast<double>(std::accumulate(first, units_.end(), std::uint64_t{0})) /
         static_cast<double>(window);
}

Share Monitor::needed_for_target(Share used, double level) const {
  if (target_ <= 0 || level <= 0) return {};
  const double ppm = std::ceil(used.ppm * target_ / level);
  return {static_cast<std::uint32_t>(std::min<double>(ppm, initial_.ppm))};
}

}  // namespace fairgv::sched::oversell
