#include "sched/promises/ceiling.hpp"

#include <algorithm>

namespace fairgv::sched {
namespace {

/// The part of an interval's use that lies before `edge`, rounded down.
Duration used_before(const UsedInterval& interval, Time edge) {
  if (edge <= interval.from) return Duration(0);
  if (edge >= interval.to) return interval.used;
  const auto part = static_cast<double>((edge - interval.from).count()) /
                    static_cast<double>((interval.to - interval.from).count());
  return Duration(static_cast<Duration::rep>(part * static_cast<double>(interval.used.count())));
}

}  // namespace

Duration Ceiling::left(Time now) {
  const Duration paced = std::min(now - paced_until_, kPace);
  if (paced <= Duration(0)) return Duration(0);
  return std::min(max_.of(paced), max_.of(kWindow) - in_window(now));
}

Time Ceiling::free_at(Time now) {
  const Time by_pace = paced_until_ + time_for(resume());
  Duration need = resume() - (max_.of(kWindow) - in_window(now));
  if (need <= Duration(0)) return std::max(by_pace, now);
  for (const UsedInterval& interval : log_) {
    const Time edge = std::max(interval.from, now - kWindow);
    const Duration leaves = interval.used - used_before(interval, edge);
    if (need > leaves) {
      need -= leaves;
      continue;
    }
    const double part = static_cast<double>(need.count()) / static_cast<double>(leaves.count());
    const double span = static_cast<double>((interval.to - edge).count());
    return std::max(by_pace, edge + Duration(static_cast<Duration::rep>(part * span) + 1) + kWindow);
  }
  return std::max(by_pace, log_.empty() ? now : log_.back().to + kWindow);
}

void Ceiling::charge(Duration used, Time now) {
  if (used <= Duration(0)) return;
  const Time began = now - used;
  paced_until_ = std::max(paced_until_, began - kPace) + time_for(used);
  logged_ += used;
  const bool joins = !log_.empty() && (began <= log_.back().to || log_.size() >= kMostIntervals);
  if (joins) {
    log_.back().to = std::max(log_.back().to, now);
    log_.back().used += used;
  } else {
    log_.push_back({began, now, used});
  }
}

bool Ceiling::fresh(Time now) const {
  return (log_.empty() || log_.back().to + kWindow <= now) && paced_until_ + kPace <= now;
}

void Ceiling::restore(const std::vector<UsedInterval>& last_second, Time paced_until) {
  log_.assign(last_second.begin(), last_second.end());
  logged_ = Duration(0);
  for (const UsedInterval& interval : log_) logged_ += interval.used;
  paced_until_ = paced_until;
}

/// The time in which the ceiling allows so much use, rounded up.
Duration Ceiling::time_for(Duration used) const {
  const Duration::rep whole = used.count() / max_.ppm;
  const Duration::rep rest = used.count() % max_.ppm;
  return Duration(whole * Share::kWholePpm + (rest * Share::kWholePpm + max_.ppm - 1) / max_.ppm);
}

Duration Ceiling::in_window(Time now) {
  const Time edge = now - kWindow;
  while (!log_.empty() && log_.front().to <= edge) {
    logged_ -= log_.front().used;
    log_.pop_front();
  }
  return log_.empty() ? Duration(0) : logged_ - used_before(log_.front(), edge);
}

}  // namespace fairgv::sched
