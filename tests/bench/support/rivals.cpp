#include "tests/bench/support/rivals.hpp"

#include <fmt/core.h>

#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench {

using namespace harness;

namespace {

/// Long beside a turn on the device, short beside the machine's faster and slower seconds.
constexpr double kTurnSeconds = 0.04;
/// Until everybody has read that the window opens.
constexpr double kLeadSeconds = 0.2;

}  // namespace

Result<Rivals> Rivals::start(const Tenancy& tenancy, const Placement& placement,
                             const std::vector<Program>& programs,
                             const std::vector<std::uint32_t>& weights) {
  Rivals rivals;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    OnRequest& twin = rivals.twins_.emplace_back(fmt::format(".twin{}", i));
    if (auto started = twin.start(bare(programs[i], placement)); !started) return started.error();
    const auto rounds = twin.rounds_in(kTurnSeconds);
    if (!rounds) return rounds.error();
    rivals.rounds_.push_back(rounds.value());
    OnRequest& tenant = rivals.tenants_.emplace_back(fmt::format(".tenant{}", i));
    const auto command = tenancy.tenant(fmt::format("tenant{}", i + 1), weights.at(i), programs[i]);
    if (auto started = tenant.start(command); !started) return started.error();
    if (auto warm = rivals.turn_of(tenant, i); !warm) return warm.error();
  }
  return rivals;
}

Result<double> Rivals::turn_of(OnRequest& program, std::size_t which) {
  const auto seconds = program.run_awaited(rounds_[which]);
  if (!seconds) return seconds.error();
  return static_cast<double>(rounds_[which]) / seconds.value();
}

Result<Rivals::Alone> Rivals::take_turns(int turns) {
  std::vector<std::vector<double>> of_tenants(tenants_.size()), of_twins(twins_.size());
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t place = 0; place < tenants_.size(); ++place) {
      // What goes first changes, so that a drift of the machine cancels.
      const std::size_t i = turn % 2 == 0 ? place : tenants_.size() - 1 - place;
      for (const bool tenant : {turn % 2 == 0, turn % 2 != 0}) {
        const auto speed = turn_of(tenant ? tenants_[i] : twins_[i], i);
        if (!speed) return speed.error();
        (tenant ? of_tenants : of_twins)[i].push_back(speed.value());
      }
    }
  }
  Alone alone;
  for (const auto& speeds : of_tenants) alone.tenants.push_back(median(speeds));
  for (const auto& speeds : of_twins) alone.twins.push_back(median(speeds));
  return alone;
}

Result<std::vector<double>> Rivals::together(double seconds) {
  const double start = monotonic_seconds() + kLeadSeconds;
  for (OnRequest& tenant : tenants_) {
    if (auto opened = tenant.open_window(start, seconds); !opened) return opened.error();
  }
  std::vector<double> speeds;
  for (OnRequest& tenant : tenants_) {
    const auto speed = tenant.close_window();
    if (!speed) return speed.error();
    speeds.push_back(speed.value());
  }
  return speeds;
}

Result<void> Rivals::end() {
  for (std::deque<OnRequest>* all : {&tenants_, &twins_}) {
    for (OnRequest& each : *all) {
      if (auto right = each.end(); !right) return right.error();
    }
  }
  return {};
}

}  // namespace fairgv::bench
