// For which part of a window a device ran kernels, by the driver's own event timestamps: the idle time that a
// scheduler leaves, whatever else makes programs slower in company.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/base/result.hpp"
#include "tests/bench/support/load/rivals.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// The program on the driver alone, for so many seconds; on so many devices at once, by device. Its launches
/// are profiled and not checked.
Result<std::vector<double>> part_in_use_alone(const harness::Placement& placement, const Program& program,
                                              std::size_t devices, double seconds);

/// The same of all of them at once, as tenants of equal weight: profiled1, profiled2, ... those of one device
/// (start_on()) after the other.
Result<std::vector<double>> part_in_use_together(const harness::Tenancy& tenancy,
                                                 const std::vector<Program>& programs, std::size_t devices,
                                                 double seconds);

}  // namespace fairgv::bench
