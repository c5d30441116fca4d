#include "tests/bench/support/load/visits.hpp"

#include <cmath>

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
                           const Program& neighbour, double turn_seconds) {
  FAIRGV_CHECK(twin_.start(bare(program, placement)));
  FAIRGV_CHECK(tenant_.start(tenancy.tenant("tenant1", 1, program)));
  FAIRGV_CHECK(neighbour_.start(tenancy.tenant("tenant2", 1, neighbour)));
  FAIRGV_TRY(fill, twin_.rounds_in(turn_seconds));
  rounds_ = fill.value();
  FAIRGV_CHECK(tenant_.run(rounds_));
  return {};
}

Result<double> Visits::alone() {
  place_ = std::fmod(place_ + kGoldenSection, 1.0);
  const double share = std::lerp(kLeastAhead, kMostAhead, place_);
  ahead_ = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(rounds_)));
  return twin_.run_after(ahead_, rounds_);
}

Result<double> Visits::beside() {
  FAIRGV_CHECK(neighbour_.begin());
  FAIRGV_TRY(seconds, tenant_.run_after(ahead_, rounds_));
  FAIRGV_CHECK(neighbour_.halt());
  return seconds;
}

Result<void> Visits::end() {
  for (OnRequest* each : {&twin_, &tenant_, &neighbour_}) {
    FAIRGV_CHECK(each->end());
  }
  return {};
}

}  // namespace fairgv::bench
