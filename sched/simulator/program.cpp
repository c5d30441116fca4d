#include "sched/simulator/program.hpp"

#include <algorithm>
#include <cmath>

namespace fairgv::sched {
namespace {

constexpr std::uint64_t kEndless = UINT64_MAX;
constexpr double kSleepSpread = 0.5;  // programs of one kind must not march in step

}  // namespace

Program::Program(const TenantSpec& spec, std::uint64_t seed)
    : spec_(spec), random_(seed), ready_(has_bursts() ? std::max(spec.burst, 1U) : kEndless) {}

bool Program::has_bursts() const {
  return spec_.sleep > 0 || spec_.period > Duration(0) || spec_.host_work > Duration(0);
}

Duration Program::issue() {
  if (ready_ != kEndless) --ready_;
  return std::max(around(static_cast<double>(spec_.kernel.count()), spec_.jitter), Duration(1));
}

Duration Program::sleep(Duration since_burst) {
  ready_ = std::max(spec_.burst, 1U);
  if (spec_.period > Duration(0)) return std::max(spec_.period - since_burst, Duration(0));
  const double work = static_cast<double>(spec_.kernel.count()) * static_cast<double>(ready_);
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
