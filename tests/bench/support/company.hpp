// Tenants beside the one that is measured, and what the daemon says of all of them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/ring/result.hpp"
#include "tests/harness/child.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// The compute loop's iterations for kernels of 200 us, found on the driver alone. All tenants of an
/// experiment are given the same number, because each would find another one beside the others. Also leaves
/// the kernel in the driver's cache, so that many tenants do not compile it at once.
Result<std::uint64_t> loop_iterations(const harness::Placement& placement);

/// A compute loop that keeps its queue full for `seconds`.
std::vector<std::string> saturating_program(std::uint64_t iterations, double seconds);

/// Tenants busy1, busy2, ... of weight 1, each with a saturating program, until they are destroyed. All of
/// them have made progress when this returns.
Result<std::vector<harness::Child>> start_saturating(const harness::Tenancy& tenancy, unsigned count,
                                                     std::uint64_t iterations);

/// A program of this tenant (weight 1) that has used the device once, and sleeps until it is destroyed.
Result<harness::Child> start_idle(const harness::Tenancy& tenancy, const std::string& tenant);

/// All that `fairgv ps --json` prints.
Result<nlohmann::json> look_at(const harness::Tenancy& tenancy);

/// The tenant within it; an Error if it is not there.
Result<nlohmann::json> tenant_in(const nlohmann::json& report, const std::string& tenant);

}  // namespace fairgv::bench
