#include "sched/turn_plan.hpp"

#include <algorithm>

namespace fairgv::sched {

TurnPlan::TurnPlan(Duration slice, CommandHistory& history, Duration in_flight, Sampling sampled)
    : history_(history),
      slice_(std::max(slice, Duration(1))),
      in_flight_(in_flight > Duration(0) ? in_flight : std::max(slice_ / kInFlightFraction, kDefaultSlice)),
      sampled_(sampled) {}

std::optional<Duration> TurnPlan::expected(CommandKind kind) const {
  switch (sampled_) {
    case Sampling::history:
      return history_.expected(kind);
    case Sampling::per_turn:
      if (samples_ < kSamplesPerTurn) return std::nullopt;
      return std::max(in_samples_ / samples_, Duration(CommandHistory::kShortestCommand));
    case Sampling::always:
      break;
  }
  return std::nullopt;
}

bool TurnPlan::admits(CommandKind kind) const {
  if (sampling()) return false;
  const bool first = commands_ == 0 && run_.empty();
  if (first) return true;
  if (run_.empty() && over()) return false;
  const auto each = expected(kind);
  if (!each) return run_.empty();
  return run_expected_ + *each <= left();
}

void TurnPlan::issued(CommandKind kind) {
  const auto each = expected(kind);
  sampling_ = !each;
  ++run_commands_;
  run_expected_ += each.value_or(Duration::zero());
  const auto known = std::find_if(run_.begin(), run_.end(), [kind](const auto& c) { return c.kind == kind; });
  if (known != run_.end()) {
    ++known->commands;
  } else {
    run_.push_back({kind, 1});
  }
}

void TurnPlan::measured(Duration used) {
  used = std::max(used, Duration::zero());
  used_ += used;
  for (const CommandHistory::Count& count : run_) commands_ += count.commands;
  if (part_) {
    ++commands_;
  } else if (sampling_) {
    history_.sampled(run_.front().kind, used);
    ++samples_;
    in_samples_ += used;
  } else {
    history_.ran(run_, used);
  }
  run_.clear();
  run_commands_ = 0;
  run_expected_ = Duration::zero();
  sampling_ = false;
  part_ = false;
}

std::uint64_t TurnPlan::most_in_flight() const {
  if (run_commands_ == 0) return kMostInFlight;
  const Duration each = std::max(run_expected_ / static_cast<std::int64_t>(run_commands_),
                                 Duration(CommandHistory::kShortestCommand));
  return std::clamp(static_cast<std::uint64_t>(in_flight_ / each), kLeastInFlight, kMostInFlight);
}

bool TurnPlan::over() const {
  if (used_ >= slice_) return true;
  // The turn ends even if the clock does not advance.
  const bool many = commands_ >= static_cast<std::uint64_t>(slice_ / CommandHistory::kShortestCommand);
  return commands_ > 0 && (many || left() < slice_ / kWorthwhileFraction);
}

}  // namespace fairgv::sched
