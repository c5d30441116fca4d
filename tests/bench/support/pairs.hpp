// Programs alone on the driver and side by side as tenants of equal weight, measured in pairs: a pair is one
// run of each, soon after one another, so that a drift of the machine falls on both sides of a ratio.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/progress_line.hpp"
#include "tests/bench/support/runs.hpp"

namespace fairgv::bench {

/// What every such experiment can be told.
struct PairSettings {
  double seconds = 2;  // of each run
  int pairs = 3;
};

/// --seconds and --pairs.
void declare_pairs(Experiment& experiment, PairSettings& settings);
/// --policies.
void declare_policies(Experiment& experiment, std::vector<std::string>& policies);

/// Throughputs in the programs' own units, in the order of the programs.
struct Pair {
  std::vector<double> alone;
  std::vector<double> together;
};
using PairsByPolicy = std::map<std::string, std::vector<Pair>>;

/// Measures the pairs of one experiment.
class PairedRuns {
 public:
  /// cases: how often measure() will be called with `programs_alone` programs that run alone.
  static Result<PairedRuns> start(const harness::Placement& placement, const PairSettings& settings,
                                  const std::vector<std::string>& policies, std::size_t cases,
                                  std::size_t programs_alone);

  /// Each of `alone` by itself, and all of `together` over the same window, under each policy. `what` names
  /// the case where it says how far it is.
  Result<PairsByPolicy> measure(const std::string& what, const std::vector<Program>& alone,
                                const std::vector<Program>& together);

  const ProgressLine& progress() const { return *progress_; }

 private:
  PairedRuns(Runs runs, const PairSettings& settings, const std::vector<std::string>& policies,
             std::size_t steps);
  Result<std::vector<double>> run_alone(const std::string& what, const std::vector<Program>& programs);

  Runs runs_;
  PairSettings settings_;
  std::vector<std::string> policies_;
  std::unique_ptr<ProgressLine> progress_;
};

}  // namespace fairgv::bench
