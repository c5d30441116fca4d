#pragma once
// Rounds, or builds, on request: for measurements in which two programs take turns that are too short for
// runs of their own.

#include <string>

#include "tests/workloads/support/measure.hpp"
#include "tests/workloads/support/target.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {

/// For every line of `file`, which may be a pipe: runs as many rounds as it says ("12"), waits for them, and
/// prints a JSON line with these rounds and their seconds; or builds the program anew as often as it says
/// ("build 3"), and prints these builds and the seconds that building took. Returns at the end of the
/// file, with all rounds. Throws BadInput.
Measurement serve_requests(Target& target, Workload& workload, const std::string& file);

}  // namespace workloads
