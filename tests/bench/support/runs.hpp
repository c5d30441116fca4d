// Runs of programs that measure their own throughput: alone on the driver, and side by side as tenants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/ring/result.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

using Program = std::vector<std::string>;  // and its arguments

/// On a private daemon. Throughputs are in the programs' own units.
class Runs {
 public:
  /// `device`: lines for its part of the daemon's configuration.
  static Result<Runs> start(const harness::Placement& placement, std::string device = {});

  /// By itself, without FairGV, for `seconds`.
  Result<double> alone(const Program& program, double seconds);

  /// All at once under this policy, over the same window of `seconds`, in the order of the programs. Those
  /// for which `weights` has no entry have weight 1.
  Result<std::vector<double>> together(const std::string& policy, const std::vector<Program>& programs,
                                       double seconds, const std::vector<std::uint32_t>& weights = {}) const;

  const harness::Placement& placement() const { return placement_; }
  const harness::Tenancy& tenancy() const { return tenancy_; }

 private:
  Runs(harness::Placement placement, harness::Tenancy tenancy)
      : placement_(std::move(placement)), tenancy_(std::move(tenancy)) {}
  double lead_seconds(std::size_t programs) const;

  harness::Placement placement_;
  harness::Tenancy tenancy_;
  double ready_seconds_ = 1;  // that the last program alone took beside its window: start, check, end
};

}  // namespace fairgv::bench
