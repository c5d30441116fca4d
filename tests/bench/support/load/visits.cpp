#include "tests/bench/support/load/visits.hpp"

#include <fmt/core.h>

#include <cmath>

#include "tests/bench/support/load/devices.hpp"

namespace fairgv::bench {

using namespace harness;

namespace {

// Ahead of a turn goes a quarter to a half of its rounds, enough for some turns of the dispatcher. Steps of
// the golden section spread the begin of the measured part over the dispatcher's turns.
constexpr double kLeastAhead = 0.25;
constexpr double kMostAhead = 0.5;
constexpr double kGoldenSection = 0.618;

}  // namespace

Result<void> Visits::start(const Tenancy& tenancy, const Placement& placement, const Program& program,
                           const Program& neighbour, double turn_seconds, std::size_t devices) {
  for (std::size_t device = 0; device < devices; ++device) {
    const auto named = [&](std::size_t tenant) { return fmt::format("tenant{}", 2 * device + tenant); };
    const auto pipe = [&](const char* of) { return fmt::format(".{}{}", of, device); };
    FAIRGV_CHECK(
        twins_.emplace_back(pipe("twin")).start(bare(on_device(program, device, devices), placement)));
    FAIRGV_CHECK(tenants_.emplace_back(pipe("tenant")).start(tenancy.tenant(named(1), 1, program)));
    FAIRGV_CHECK(neighbours_.emplace_back(pipe("neighbour")).start(tenancy.tenant(named(2), 1, neighbour)));
  }
  // In a turn the devices share the processors.
  FAIRGV_TRY(fill, twins_.front().rounds_in(turn_seconds / static_cast<double>(devices)));
  rounds_ = fill.value();
  for (OnRequest& tenant : tenants_) FAIRGV_CHECK(tenant.run(rounds_));
  return {};
}

Result<std::vector<double>> Visits::run(std::deque<OnRequest>& programs) const {
  std::vector<OnRequest::Asked> asked;
  for (OnRequest& program : programs) asked.push_back({&program, rounds_, true, ahead_});
  return OnRequest::run_at_once(asked);
}

Result<std::vector<double>> Visits::alone() {
  place_ = std::fmod(place_ + kGoldenSection, 1.0);
  const double share = std::lerp(kLeastAhead, kMostAhead, place_);
  ahead_ = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(rounds_)));
  return run(twins_);
}

Result<std::vector<double>> Visits::beside() {
  for (OnRequest& neighbour : neighbours_) FAIRGV_CHECK(neighbour.begin());
  FAIRGV_TRY(seconds, run(tenants_));
  for (OnRequest& neighbour : neighbours_) FAIRGV_CHECK(neighbour.halt());
  return seconds;
}

Result<void> Visits::end() {
  for (std::deque<OnRequest>* all : {&twins_, &tenants_, &neighbours_}) {
    for (OnRequest& each : *all) FAIRGV_CHECK(each.end());
  }
  return {};
}

}  // namespace fairgv::bench
