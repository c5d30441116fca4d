#include "sched/promises/ceiling.hpp"

#include <algorithm>

namespace fairgv::sched {
namespace {

/// The part of an interval's use that lies before `edge`. All of it counts as being as late as it can be.
Duration used_before(const UsedInterval& interval, Time edge) {
  if (edge <= interval.from) return Duration(0);
  return std::clamp(interval.used - (interval.to - edge), Duration(0), interval.used);
}

}  // namespace

void Ceiling::set(Share max, Time now) {
  const Duration debt = std::max(paced_until_ - now, Duration(0));
  const Duration used = max_.of(debt);
  max_ = max;
  if (debt > Duration(0)) paced_until_ = now + time_for(used);
}

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
    const Duration gone = used_before(interval, now - kWindow);
    if (need > interval.used - gone) {
      need -= interval.used - gone;
      continue;
    }
    // The edge of the window at that moment.
    const Time edge = interval.to - (interval.used - gone - need);
    return std::max(by_pace, std::max(edge, interval.from + Duration(1)) + kWindow);
  }
  return std::max(by_pace, log_.empty() ? now : log_.back().to + kWindow);
}

void Ceiling::charge(Duration used, Time now) {
  if (used <= Duration(0)) return;
  const Time began = now - used;
  paced_until_ = std::max(paced_until_, began - kPace) + time_for(used);
  paced_until_ = std::min(paced_until_, now + kLongestDebt);
  logged_ += used;
  const bool joins = !log_.empty() && (began <= log_.back().to || now - log_.back().from <= kGrain);
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

/// The time in which the ceiling allows so much use, rounded up; at most kLongestDebt.
Duration Ceiling::time_for(Duration used) const {
  const Duration::rep whole = used.count() / max_.ppm;
  if (whole >= kLongestDebt.count() / Share::kWholePpm) return kLongestDebt;
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
