// Programs alone on the driver and side by side as tenants of equal weight, measured in pairs: short windows
// side by side lie between short turns of those alone, so that a drift of the machine falls on both sides of
// a ratio. Every pair has processes of its own, the same under all policies.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/rivals.hpp"
#include "tests/bench/support/text/progress_line.hpp"

namespace fairgv::bench {

/// The settings of every such experiment.
struct PairSettings {
  double seconds = 4;  // of each window side by side
  int pairs = 3;
  int turns = 15;   // of each program by itself between two windows; with short windows, so many windows too
  int windows = 1;  // of a pair under each policy
  std::string discipline = "adaptive";
  std::size_t devices = 1;  // each with tenants of its own

  /// Of the daemon that shares the device.
  std::string configuration() const { return "discipline = \"" + discipline + "\""; }
};

/// --seconds and --pairs.
void declare_pairs(Experiment& experiment, PairSettings& settings);
/// --windows.
void declare_windows(Experiment& experiment, PairSettings& settings);
/// --turns.
void declare_turns(Experiment& experiment, PairSettings& settings);
/// --discipline.
void declare_discipline(Experiment& experiment, PairSettings& settings);
/// --policies.
void declare_policies(Experiment& experiment, std::vector<std::string>& policies);

/// A window side by side between turns alone: rounds per second, in the order of the programs.
struct Window {
  std::vector<double> before;
  std::vector<double> together;
  std::vector<double> after;
};
/// The windows of each pair on each device.
using PairsByPolicy = std::map<std::string, std::vector<std::vector<Window>>>;

/// Measures the pairs of one experiment.
class PairedRuns {
 public:
  /// programs: how many are side by side on a device; cases: how often measure() will be called; profiled:
  /// measure_in_use(), as often.
  static Result<PairedRuns> start(const harness::Placement& placement, const PairSettings& settings,
                                  const std::vector<std::string>& policies, std::size_t programs,
                                  std::size_t cases, bool profiled = false);

  /// Each of `alone` by itself, and all of `together` over the same windows, on each device, under each
  /// policy. `what` names the case in the progress line.
  Result<PairsByPolicy> measure(const std::string& what, const std::vector<Program>& alone,
                                const std::vector<Program>& together);

  /// For which part of the time the device runs kernels of all of `together`, over that of `alone` by itself:
  /// so many pairs of so many seconds under each policy, on each device. Runs of their own, because
  /// timestamps of every launch cost throughput.
  Result<std::map<std::string, std::vector<double>>> measure_in_use(const std::string& what,
                                                                    const Program& alone,
                                                                    const std::vector<Program>& together,
                                                                    double seconds);

  const ProgressLine& progress() const { return *progress_; }

 private:
  /// Of one pair, on all devices.
  Result<std::map<std::string, std::vector<Window>>> windows_of(const std::string& what, int pair,
                                                                Rivals& rivals);

  PairedRuns(harness::Placement placement, harness::Tenancy tenancy, const PairSettings& settings,
             const std::vector<std::string>& policies, std::size_t steps);

  harness::Placement placement_;
  harness::Tenancy tenancy_;
  PairSettings settings_;
  std::vector<std::string> policies_;
  std::unique_ptr<ProgressLine> progress_;
};

}  // namespace fairgv::bench
