#include "sched/simulator/program.hpp"

#include <algorithm>
#include <cmath>

namespace fairgv::sched {
namespace {

constexpr std::uint64_t kEndless = UINT64_MAX;
constexpr double kSleepSpread = 0.5;  // programs of one kind must not march in step
constexpr double kHostSpread = 0.1;

}  // namespace

Duration mean_cost(const TenantSpec& spec) {
  if (spec.commands.empty()) return spec.kernel;
  Duration sum{0};
  std::uint64_t frequencies = 0;
  for (const CommandMix& mix : spec.commands) {
    sum += static_cast<Duration::rep>(mix.frequency) * mix.cost;
    frequencies += mix.frequency;
  }
  return sum / static_cast<Duration::rep>(std::max<std::uint64_t>(frequencies, 1));
}

Program::Program(const TenantSpec& spec, std::uint64_t seed)
    : spec_(spec), random_(seed), ready_(has_bursts() ? std::max(spec.burst, 1U) : kEndless) {
  for (const CommandMix& mix : spec_.commands) frequencies_ += mix.frequency;
}

bool Program::has_bursts() const {
  return spec_.sleep > 0 || spec_.period > Duration(0) || spec_.host > Duration(0) ||
         spec_.host_work > Duration(0);
}

const Command& Program::next() {
  if (!next_) next_ = make_command();
  return *next_;
}

Command Program::issue() {
  Command command = next();
  next_.reset();
  if (!spec_.phases.empty()) {
    const double cost = static_cast<double>(command.cost.count()) * spec_.phases[phase_].factor;
    command.cost = std::max(Duration(std::llround(cost)), Duration(1));
  }
  if (ready_ != kEndless) --ready_;
  return command;
}

Command Program::make_command() {
  CommandMix mix{kOnlyShape, spec_.kernel, spec_.jitter, 1};
  if (frequencies_ > 0) {
    std::uint64_t drawn = random_() % frequencies_;
    std::size_t chosen = 0;
    while (drawn >= spec_.commands[chosen].frequency) drawn -= spec_.commands[chosen++].frequency;
    mix = spec_.commands[chosen];
  }
  const Duration cost = around(static_cast<double>(mix.cost.count()) * scene_, mix.jitter);
  return {mix.shape, std::max(cost, Duration(1))};
}

void Program::begin_burst() {
  ready_ = std::max(spec_.burst, 1U);
  if (spec_.scene <= 0 || random_() % kBurstsPerScene != 0) return;
  scene_ = static_cast<double>(around(1e9, spec_.scene).count()) * 1e-9;
}

void Program::advance(Time now) {
  if (spec_.phases.empty()) return;
  if (!phase_ends_) phase_ends_ = now + spec_.phases.front().length;
  while (now >= *phase_ends_) {
    phase_ = (phase_ + 1) % spec_.phases.size();
    *phase_ends_ += std::max(spec_.phases[phase_].length, Duration(1));
  }
}

Duration Program::sleep(Duration since_burst) {
  begin_burst();
  if (spec_.period > Duration(0)) return std::max(spec_.period - since_burst, Duration(0));
  if (spec_.host > Duration(0)) return around(static_cast<double>(spec_.host.count()), kHostSpread);
  const double work = static_cast<double>(mean_cost(spec_).count()) * static_cast<double>(ready_);
  return around(work * spec_.sleep / (1 - spec_.sleep), kSleepSpread);
}

Duration Program::host_work() {
  if (spec_.host_work <= Duration(0)) return Duration(0);
  return std::max(around(static_cast<double>(spec_.host_work.count()), spec_.jitter), Duration(1));
}

/// Not a standard distribution: those differ between libraries.
Duration Program::around(double mean_ns, double spread) {
  const double unit = static_cast<double>(random_() >> 11) * 0x1p-53;  // 0 to below 1
  return Duration(std::llround(mean_ns * (1 + spread * (2 * unit - 1))));
}

}  // namespace fairgv::sched
