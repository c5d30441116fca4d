// Tenants under caps in the simulator, with gOver's controller beside them: tenants come while the run goes
// on, and once per second the controller sees what they did, and changes caps.
//
// The policy is `cap`, in turns of 1 ms (gVirt's interval). A burst of a program is a unit of work: a frame.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/oversell/controller.hpp"
#include "sched/simulator/program.hpp"

namespace fairgv::sched {

struct OversellSettings {
  /// One after the other they ask for a cap (attributes.max), with a target (attributes.units_per_second).
  /// Each counts as one tenant with one session. A customer that is refused goes away.
  std::vector<TenantSpec> customers;
  /// The customers that have come before the run begins, and have bought.
  std::size_t at_first = 0;
  /// The next customer comes so long after the last one.
  Duration between_customers = std::chrono::seconds(5);
  oversell::Controller::Settings controller{};
  Duration length = std::chrono::seconds(300);
  std::uint64_t seed = 1;
};

/// One second of one tenant.
struct TenantSecond {
  std::size_t second = 0;    // of the run
  std::size_t customer = 0;  // index
  Share cap{};
  double utilisation = 0;  // u_i
  double level = 0;        // units per second
  bool broken = false;     // below the target by more than a unit
};

struct OversellOutcome {
  std::vector<TenantSecond> seconds;  // of all tenants
  std::vector<double> busy;           // part of the device that was used, by second
  std::vector<std::size_t> tenants;   // at the end of each second
  std::vector<std::size_t> sold_at;   // second of each later sale
  double overbooking = 0;             // at the end
  std::size_t warnings = 0;           // seconds with a warning

  double mean_utilisation() const;  // of the device
  double broken_part() const;       // of the tenants' seconds
};

OversellOutcome run_oversell(const OversellSettings& settings);

}  // namespace fairgv::sched
