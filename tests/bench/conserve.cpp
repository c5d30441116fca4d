// fairgv bench conserve: BlackScholes, which always wants the device, beside a matrixMul that sleeps most of
// its time (FairGV, section 5.4.5, figure 10). A work-conserving policy gives one program the time that the
// other leaves, so that the device is as busy as with one program alone.
//
// Measured in two ways: by the work that the programs get done, which is less also when their kernels run
// slower in company; and by the time in which the device runs kernels, as in the paper's figure. With
// --devices each device has both programs, and the results are those of the single devices.
#include <fmt/core.h>

#include <array>

#include "tests/bench/support/api.hpp"
#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/bench/support/load/devices.hpp"
#include "tests/bench/support/pairs.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/bars.hpp"
#include "tests/harness/steady.hpp"

namespace fairgv::bench::conserve_experiment {
namespace {

using namespace harness;

struct Settings {
  std::vector<double> sleep_ratios{0.5, 0.6, 0.7, 0.8};  // the paper's
  std::vector<std::string> policies{"fair", "fair-paper", "fair-paper-idle"};
  int workload_us = 0;
  double profiled_seconds = 2;
  Api api = Api::kOpenCl;
  PairSettings pairs{.seconds = 0.5, .windows = 12};
};

/// The part of the device that is put to use: throughputs side by side, each over its program's throughput
/// alone and awake.
struct Cell {
  double sleep_ratio = 0;
  std::string policy;
  Spread utilisation;   // of both programs; see spread_of_steady()
  double added_up = 0;  // the same of all windows together
  double busy = 0;      // the part of the one that always wants the device
  double sleepy = 0;
  Spread in_use;  // the part of the time, over that of the busy one alone
};

Cell cell_of(double sleep_ratio, const std::string& policy, const std::vector<std::vector<Window>>& pairs,
             const std::vector<double>& in_use) {
  std::vector<std::vector<Observation>> utilisation;
  std::array<double, 2> alone{};
  std::array<double, 2> together{};
  for (const std::vector<Window>& windows : pairs) {
    std::vector<Observation>& of_pair = utilisation.emplace_back();
    for (const Window& window : windows) {
      const std::vector<double> between = mean_of(window.before, window.after);
      Observation& both = of_pair.emplace_back(Observation{0, was_steady(window.before, window.after)});
      for (std::size_t i = 0; i < alone.size(); ++i) {
        both.value += window.together[i] / between[i];
        alone[i] += between[i];
        together[i] += window.together[i];
      }
    }
  }
  const double busy = together[0] / alone[0];
  const double sleepy = together[1] / alone[1];
  return {sleep_ratio, policy, spread_of_steady(utilisation), busy + sleepy, busy, sleepy, spread_of(in_use)};
}

Findings table_of(const std::vector<Cell>& cells) {
  Findings found{
      "sleep_ratio,policy,utilisation,lowest,highest,added_up,BlackScholes,matrixMul,"
      "in_use,in_use_lowest,in_use_highest",
      {}};
  for (const Cell& cell : cells) {
    found.rows.push_back(fmt::format(
        "{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f}", cell.sleep_ratio, cell.policy,
        cell.utilisation.median, cell.utilisation.lowest, cell.utilisation.highest, cell.added_up, cell.busy,
        cell.sleepy, cell.in_use.median, cell.in_use.lowest, cell.in_use.highest));
  }
  return found;
}

Figure figure_of(const Settings& settings, const std::vector<Cell>& cells) {
  std::vector<Bar> bars;
  for (const Cell& cell : cells) {
    bars.push_back({cell.policy, fmt::format("{:g}", 100 * cell.sleep_ratio), cell.utilisation});
  }
  return bars_by_policy(settings.policies, bars,
                        "set yrange [0:1.2]; set ylabel 'device utilisation'\n"
                        "set xlabel 'of its time matrixMul sleeps (%)'",
                        "1 title 'what the load allows'");
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  fmt::print(
      "BlackScholes beside a matrixMul that sleeps: the sum of throughputs, each over that alone and awake;\n"
      "the load allows 1.0. Median of the windows of a steady machine, lowest-highest of a pair's; in\n"
      "parentheses BlackScholes + matrixMul of all windows together. In use: the part of the time in which\n"
      "kernels run, by the driver's timestamps, over that of BlackScholes alone on the driver\n\n{:<12}",
      "sleep ratio");
  for (const std::string& policy : settings.policies) fmt::print("{:>36}{:>22}", policy, "in use");
  fmt::print("\n");
  FAIRGV_TRY(runs, PairedRuns::start(placement, settings.pairs, settings.policies, 2,
                                     settings.sleep_ratios.size(), true));
  const auto busy_one = sized(workload_of(settings.api, "BlackScholes", 0), settings.workload_us, placement);
  const auto awake_one = sized(workload_of(settings.api, "matrixMul", 1), settings.workload_us, placement);
  if (!busy_one) return busy_one.error();
  if (!awake_one) return awake_one.error();
  const Program& awake = awake_one.value();
  Program busy = busy_one.value();
  // Two batches are always queued: otherwise the program waits for every launch, and leaves gaps.
  busy.insert(busy.end(), {"--sync", "stream"});
  std::vector<Cell> cells;
  for (const double ratio : settings.sleep_ratios) {
    Program sleepy = awake;
    sleepy.insert(sleepy.end(), {"--sleep-ratio", fmt::format("{}", ratio)});
    FAIRGV_TRY(pairs, runs->measure(fmt::format("sleep ratio {}", ratio), {busy, awake}, {busy, sleepy}));
    FAIRGV_TRY(in_use, runs->measure_in_use(fmt::format("sleep ratio {}", ratio), busy, {busy, sleepy},
                                            settings.profiled_seconds));
    std::string row = fmt::format("{:<12}", ratio);
    for (const std::string& policy : settings.policies) {
      cells.push_back(cell_of(ratio, policy, pairs.value()[policy], in_use.value()[policy]));
      const Cell& cell = cells.back();
      row += fmt::format("{:>36}{:>22}",
                         fmt::format("{} ({:.3f} + {:.3f})", shown(cell.utilisation), cell.busy, cell.sleepy),
                         shown(cell.in_use));
    }
    runs->progress().print_row(row);
  }
  Findings found = table_of(cells);
  found.figure = figure_of(settings, cells);
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("conserve",
                        "How busy the device is when one of two programs sleeps most of its time, by policy");
  Settings settings;
  experiment
      .setting("--sleep-ratios", settings.sleep_ratios, {0.5, 0.8}, "Parts of its time that matrixMul sleeps")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 0.95));
  declare_size(experiment.options(), settings.workload_us, "--workload-us");
  declare_api(experiment.options(), settings.api, {.direct = true, .mixed = true});
  declare_policies(experiment, settings.policies);
  declare_pairs(experiment, settings.pairs);
  declare_windows(experiment, settings.pairs);
  experiment
      .setting("--profiled-seconds", settings.profiled_seconds, 0.3,
               "Length of the windows whose launches are profiled, two to a pair")
      ->check(CLI::Range(0.2, 600.0));
  declare_discipline(experiment, settings.pairs);
  declare_devices(experiment, settings.pairs.devices, &settings.api);
  experiment.declare_figure();
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"conserve", run};

}  // namespace
}  // namespace fairgv::bench::conserve_experiment
