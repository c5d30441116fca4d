#pragma once
// Rounds on request: for measurements in which two programs take turns that are too short for runs of their
// own.

#include <string>

#include "tests/workloads/support/launcher.hpp"
#include "tests/workloads/support/measure.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {

/// For every line of `file`, which may be a pipe: runs as many rounds as it says, waits for them, and prints
/// a JSON line with these rounds and their seconds. Returns at the end of the file, with all of them. Throws
/// BadInput.
Measurement serve_requests(Workload& workload, Launcher& launcher, const std::string& file);

}  // namespace workloads
