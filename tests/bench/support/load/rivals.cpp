#include "tests/bench/support/load/rivals.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tests/bench/support/load/devices.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/harness/steady.hpp"

namespace fairgv::bench {

using namespace harness;

namespace {

/// Long beside a turn on the device, short beside the machine's faster and slower seconds.
constexpr double kTurnSeconds = 0.04;
/// So long before a window opens everybody is at work: some turns on the device, so that it opens in the
/// midst of them. A program that gets to work later has less of that, and fails when the window is open.
constexpr double kWorkAheadSeconds = 0.25;
/// The time for all programs to read when that is.
constexpr double kLeadSeconds = 0.25;
/// Turns alone of so many seconds fit in ahead of that.
constexpr double kSecondsOfTurns = 0.5;
/// The last turn ahead of a window may take so many times as long as turns are meant to.
constexpr double kTurnsEndAhead = 2;

std::string name_of(std::size_t tenant) {
  return fmt::format("tenant{}", tenant + 1);
}

}  // namespace

Rivals::Alone mean_of(const Rivals::Alone& before, const Rivals::Alone& after) {
  return {mean_of(before.tenants, after.tenants), mean_of(before.on_driver, after.on_driver)};
}

std::vector<double> mean_of(const std::vector<double>& before, const std::vector<double>& after) {
  std::vector<double> result;
  for (std::size_t i = 0; i < before.size(); ++i) result.push_back((before[i] + after[i]) / 2);
  return result;
}

bool was_steady(const std::vector<double>& before, const std::vector<double>& after) {
  double change = 0;  // the programs' mean: their speeds differ
  for (std::size_t i = 0; i < before.size(); ++i)
    change += after[i] / before[i] / static_cast<double>(before.size());
  return is_steady(1, change);
}

Result<void> Rivals::Rival::start(CommandLine command, double turn_seconds) {
  FAIRGV_CHECK(program.start(std::move(command)));
  FAIRGV_TRY(fill, program.rounds_in(turn_seconds));
  rounds = fill.value();
  return {};
}

Result<Rivals> Rivals::start(const Tenancy& tenancy, const Placement& placement,
                             const std::vector<Program>& tenants, const std::vector<Program>& on_driver,
                             const std::string& name, std::size_t devices) {
  Rivals rivals(devices);
  // In a turn the devices share the processors.
  const double turn_seconds = kTurnSeconds / static_cast<double>(devices);
  for (std::size_t device = 0; device < devices; ++device) {
    for (const Program& program : on_driver) {
      Rival& rival =
          rivals.on_driver_.emplace_back(fmt::format(".{}driver{}", name, rivals.on_driver_.size()), false);
      FAIRGV_CHECK(rival.start(bare(on_device(program, device, devices), placement), turn_seconds));
    }
  }
  for (std::size_t i = 0; i < devices * tenants.size(); ++i) {
    Rival& rival = rivals.tenants_.emplace_back(fmt::format(".{}tenant{}", name, i), true);
    FAIRGV_CHECK(rival.start(tenancy.tenant(name_of(i), 1, tenants[i % tenants.size()]), turn_seconds));
  }
  return rivals;
}

Result<void> Rivals::weigh(const Tenancy& tenancy, const std::vector<std::uint32_t>& weights) const {
  for (std::size_t i = 0; i < tenants_.size(); ++i) {
    FAIRGV_CHECK(tenancy.set_weight(name_of(i), weights[i]));
  }
  return {};
}

Result<Rivals::Alone> Rivals::take_turns(int turns, Who who) {
  std::vector<Twins> in_order = order(who);
  for (int turn = 0; turn < turns; ++turn) {
    FAIRGV_CHECK(take_turn(in_order));
  }
  return speeds(who);
}

Rivals::Twins Rivals::twins(std::deque<Rival>& all, std::size_t place) const {
  Twins twins;
  for (std::size_t device = 0; device < devices_; ++device) {
    twins.push_back(&all[device * (all.size() / devices_) + place]);
    twins.back()->speeds.clear();
  }
  return twins;
}

std::vector<Rivals::Twins> Rivals::order(Who who) {
  std::vector<Twins> order;
  for (std::size_t place = 0; place < std::max(tenants_.size(), on_driver_.size()) / devices_; ++place) {
    if (place < on_driver_.size() / devices_) order.push_back(twins(on_driver_, place));
    if (place < tenants_.size() / devices_ && who == Who::everybody) order.push_back(twins(tenants_, place));
  }
  return order;
}

Result<void> Rivals::take_turn(std::vector<Twins>& order) {
  for (const Twins& twins : order) {
    std::vector<OnRequest::Asked> asked;
    for (Rival* rival : twins) asked.push_back({&rival->program, rival->rounds, !rival->tenant});
    FAIRGV_TRY(seconds, OnRequest::run_at_once(asked));
    for (std::size_t device = 0; device < devices_; ++device) {
      twins[device]->speeds.push_back(static_cast<double>(twins[device]->rounds) / seconds.value()[device]);
    }
  }
  // The program that goes first changes, so that a drift of the machine cancels.
  std::reverse(order.begin(), order.end());
  return {};
}

Rivals::Alone Rivals::speeds(Who who) const {
  Alone alone;
  for (const Rival& rival : on_driver_) alone.on_driver.push_back(harmonic_mean(rival.speeds));
  if (who == Who::everybody) {
    for (const Rival& rival : tenants_) alone.tenants.push_back(harmonic_mean(rival.speeds));
  }
  return alone;
}

Result<std::vector<double>> Rivals::together(double seconds) {
  const double start = monotonic_seconds() + kLeadSeconds + kWorkAheadSeconds;
  FAIRGV_CHECK(open_window(start, seconds));
  return close_window();
}

Result<Rivals::Sides> Rivals::turns_and_window(double seconds) {
  const double to_work = monotonic_seconds() + kSecondsOfTurns;
  const double start = to_work + kWorkAheadSeconds;
  FAIRGV_CHECK(open_window(start, seconds));
  std::vector<Twins> in_order = order(Who::on_driver);
  const double last_turn = to_work - kTurnsEndAhead * kTurnSeconds * static_cast<double>(in_order.size());
  do {
    FAIRGV_CHECK(take_turn(in_order));
  } while (monotonic_seconds() < last_turn);
  FAIRGV_TRY(together, close_window());
  return Sides{speeds(Who::on_driver), std::move(together).value()};
}

Result<void> Rivals::open_window(double start, double seconds) {
  for (Rival& tenant : tenants_) {
    FAIRGV_CHECK(tenant.program.open_window(start, seconds, kWorkAheadSeconds));
  }
  return {};
}

Result<std::vector<double>> Rivals::close_window() {
  std::vector<double> speeds;
  for (Rival& tenant : tenants_) {
    FAIRGV_TRY(speed, tenant.program.close_window());
    speeds.push_back(speed.value());
  }
  return speeds;
}

Result<void> Rivals::end() {
  for (std::deque<Rival>* all : {&tenants_, &on_driver_}) {
    for (Rival& rival : *all) {
      FAIRGV_CHECK(rival.program.end());
    }
  }
  return {};
}

}  // namespace fairgv::bench
