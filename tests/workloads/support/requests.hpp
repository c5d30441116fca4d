#pragma once
// Rounds, or builds, on request: for measurements in which two programs take turns that are too short for
// runs of their own.

#include "tests/workloads/support/measure.hpp"
#include "tests/workloads/support/options.hpp"
#include "tests/workloads/support/target.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {

/// Serves every line of --requests' file, which may be a pipe, and answers each with a JSON line: what was
/// done and the seconds that it took.
///
/// - "12": so many rounds, and one wait after them.
/// - "run 12": so many rounds with the waits of `sync` and `batch`.
/// - "run 12 after 5": the same, right after 5 others that are not measured, with one wait between as
///   between batches.
/// - "window 1234.5 10 after 0.2": as --start-at and --seconds, in the midst of work that begins 0.2 s
///   before, or now if that is past; the rounds are those whose end was seen within. As much of what had
///   begun before is seen to end within as there is that it cuts off, however short the window.
/// - "begin": rounds with those waits until there is another line, which is served next; "end" does nothing
///   else. There are two answers, the first as soon as a wait is over.
/// - "build 3": builds the program anew so often.
///
/// Returns at the end of the file, with all rounds. Throws BadInput, and what measure() throws.
Measurement serve_requests(Target& target, Workload& workload, const Options& options, SyncMode sync,
                           std::uint64_t batch);

}  // namespace workloads
