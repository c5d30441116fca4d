// Programs alone on the driver and side by side as tenants of equal weight, measured in pairs: a pair is one
// run of each, soon after one another, so that a drift of the machine falls on both sides of a ratio.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/support/output.hpp"
#include "tests/bench/support/progress_line.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// What every such experiment can be told.
struct PairSettings {
  std::vector<std::string> policies;
  double seconds = 2;  // of each run
  int pairs = 3;
  bool quick = false;
  unsigned device_cores = 0;
  Output output{};
};

/// An option for each of these. Call settle() after parsing.
void declare_pairs(CLI::App& app, PairSettings& settings);
/// What --quick means for the settings, and for a list of cases unless the user gave one: its ends.
void settle(PairSettings& settings);
template <class Case>
void shorten(const CLI::App& app, const std::string& option, std::vector<Case>& cases) {
  if (app.count("--quick") > 0 && app.count(option) == 0) cases = {cases.front(), cases.back()};
}

using Program = std::vector<std::string>;  // and its arguments

/// Throughputs in the programs' own units, in the order of the programs.
struct Pair {
  std::vector<double> alone;
  std::vector<double> together;
};
using PairsByPolicy = std::map<std::string, std::vector<Pair>>;

/// Measures pairs of one experiment, on a private daemon.
class PairedRuns {
 public:
  /// cases: how often measure() will be called with `programs_alone` programs that run alone.
  static Result<PairedRuns> start(const PairSettings& settings, std::size_t cases,
                                  std::size_t programs_alone);

  /// Each of `alone` by itself, and all of `together` over the same window, under each policy. `what` names
  /// the case where it says how far it is.
  Result<PairsByPolicy> measure(const std::string& what, const std::vector<Program>& alone,
                                const std::vector<Program>& together);

  const harness::Placement& placement() const { return placement_; }
  const ProgressLine& progress() const { return *progress_; }

 private:
  PairedRuns(const PairSettings& settings, harness::Placement placement, harness::Tenancy tenancy,
             std::size_t steps);
  Result<std::vector<double>> run_alone(const std::string& what, const std::vector<Program>& programs);
  Result<std::vector<double>> run_together(const std::string& what, const std::string& policy,
                                           const std::vector<Program>& programs);

  PairSettings settings_;
  harness::Placement placement_;
  harness::Tenancy tenancy_;
  std::unique_ptr<ProgressLine> progress_;
};

}  // namespace fairgv::bench
