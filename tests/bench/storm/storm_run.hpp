// One storm of `fairgv bench storm`: starts and judges the tenants' programs, and raises the faults between
// them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/storm/storm_daemon.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench::storm_experiment {

struct Settings {
  double seconds = 600;
  unsigned tenants = 8;
  std::uint64_t seed = 0;
};

struct Tally {
  std::map<std::string, std::uint64_t> counts;  // of faults and of programs, by what they were
  std::vector<std::string> complaints;
  std::vector<double>
      shares;  // of the heavier steady tenant over that of the lighter, half of it; for each rest
  std::vector<double> paid;  // of each kernel in which a program was killed, over the time it was seen to run
  double charged = 0;        // all tenants of all devices' time, over the time that passed
  double steady = 0;         // the steady tenants, over what they were entitled to
};

/// Until `settings.seconds` have passed, and until all has come to rest.
Result<Tally> storm(const harness::Tenancy& tenancy, StormDaemon& daemon, const Settings& settings);

}  // namespace fairgv::bench::storm_experiment
