#include "sched/slice_plan.hpp"

#include <algorithm>

namespace fairgv::sched {
namespace {

// A free run costs one synchronisation, some ten microseconds. Below a tenth of the slice it is not worth
// that, and the fair queue gives the rest back.
constexpr int kWorthwhileFraction = 10;

}  // namespace

SlicePlan::SlicePlan(Duration slice, std::uint32_t samples, std::optional<Duration> prior_mean)
    : slice_(std::max(slice, Duration(1))),
      samples_left_(std::max(samples, 1U)),
      most_commands_(static_cast<std::uint64_t>(std::max<std::int64_t>(slice_ / kShortestCommand, 1))) {
  if (prior_mean && *prior_mean > Duration::zero()) {
    mean_ = *prior_mean;
    samples_left_ = 0;
  }
}

SlicePlan::Step SlicePlan::next() const {
  if (used_ >= slice_ || commands_ >= most_commands_) return Step::stop;
  if (sampling()) return Step::measure_one;
  return predicted() > 0 ? Step::run_many : Step::stop;
}

std::uint64_t SlicePlan::allowance() const {
  switch (next()) {
    case Step::measure_one:
      return 1;
    case Step::run_many:
      return predicted();
    case Step::stop:
      return 0;
  }
  return 0;
}

void SlicePlan::measured(Duration used, std::uint64_t commands) {
  used = std::max(used, Duration::zero());
  used_ += used;
  commands_ += commands;
  if (commands == 0) return;
  if (sampling()) {
    samples_left_ -= static_cast<std::uint32_t>(std::min<std::uint64_t>(commands, samples_left_));
    mean_ = used_ / static_cast<std::int64_t>(commands_);
  } else {
    mean_ = used / static_cast<std::int64_t>(commands);
  }
}

std::uint64_t SlicePlan::predicted() const {
  const Duration left = slice_ - used_;
  const Duration per_command = std::max(mean_, kShortestCommand);
  const auto fitting = static_cast<std::uint64_t>(left / per_command);
  if (commands_ == 0) return std::max<std::uint64_t>(fitting, 1);
  if (left < slice_ / kWorthwhileFraction) return 0;
  return std::min(fitting, most_commands_ - commands_);
}

}  // namespace fairgv::sched
