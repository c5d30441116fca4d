#pragma once
// The measured window: runs rounds, waits for them as the sync mode says, and counts the completed ones.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "tests/workloads/support/launch_queue.hpp"
#include "tests/workloads/support/options.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {

/// A result differs from the host's, or the window could not be kept; what() is one line.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Measurement {
  std::uint64_t rounds = 0;   ///< Completed inside the window.
  std::uint64_t kernels = 0;  ///< Launches of those rounds.
  double seconds = 0.0;     ///< --seconds, or the time until SIGTERM or `enough`, or that --repetitions took.
  double slept = 0.0;       ///< Seconds that the host slept, as --sleep-ratio asks.
  double started_at = 0.0;  ///< Seconds on CLOCK_MONOTONIC.
  std::optional<double> clock_gap_ms{};  ///< The largest between two looks at the clock, with --clock-ms.
};

/// Throws Failure when the last round's result is wrong.
void require_correct(Workload& workload, const char* when);

/// Called after every wait: with the number of complete rounds, and the seconds since the window was opened.
using Enough = std::function<bool(std::uint64_t rounds, double seconds)>;

/// Opens the window now or at --start-at and closes it after --seconds or --repetitions, or before that at
/// SIGTERM or when it is `enough`. Only rounds whose completion the host has seen inside the window count.
/// Returns with the device idle.
Measurement measure(Workload& workload, LaunchQueue& queue, const Options& options, SyncMode sync,
                    std::uint64_t batch, const Enough& enough = {});

}  // namespace workloads
