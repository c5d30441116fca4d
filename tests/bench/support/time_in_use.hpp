// For which part of a window a device ran kernels, by the driver's own event timestamps: the idle time that a
// scheduler leaves, whatever else makes programs slower in company.
#pragma once

#include <vector>

#include "runtime/base/result.hpp"
#include "tests/bench/support/load/rivals.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// The program on the driver alone, for so many seconds. Its launches are profiled and not checked.
Result<double> part_in_use_alone(const harness::Placement& placement, const Program& program, double seconds);

/// The same of all of them at once, as tenants of equal weight.
Result<double> part_in_use_together(const harness::Tenancy& tenancy, const std::vector<Program>& programs,
                                    double seconds);

}  // namespace fairgv::bench
