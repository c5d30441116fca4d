// The clients of the FairGV paper's figures: where they run, and what their weights promise them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/support/load/rivals.hpp"
#include "tests/bench/support/text/share_view.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// The program of that client, on a core of the host that it shares: up to three clients share one, of more
/// each pair does, as far as there are cores (FairGV, sections 5.4.3 and 5.4.4).
Program pinned(Program program, std::size_t client, std::size_t clients, const harness::Placement& placement);

/// The fairness for tenants of those weights, from their speeds together and each one's speed alone.
Fairness fairness_of(const std::vector<std::uint32_t>& weights, const std::vector<Program>& programs,
                     const std::vector<double>& together, const std::vector<double>& alone);

/// How long each waits for a piece of work, over the time that its weight promises it on the driver alone.
std::vector<double> completion_of(const std::vector<std::uint32_t>& weights,
                                  const std::vector<Program>& programs, const std::vector<double>& together,
                                  const std::vector<double>& on_driver);

}  // namespace fairgv::bench
