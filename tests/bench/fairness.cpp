// fairgv bench fair3, fairgv bench fair6: fairness and overhead of every scheduling policy (FairGV,
// sections 5.4.3 and 5.4.4, figures 8 and 9). The tenants run the same program, so that no share hangs on
// another program's baseline. Every run side by side lies between two short runs of that program alone on the
// driver, seconds apart; what the device does alone is taken to be their mean. Both ratios are medians of
// what the single runs show: a drift of the machine is in none of them.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "tests/bench/support/api.hpp"
#include "tests/bench/support/bars.hpp"
#include "tests/bench/support/command_line.hpp"
#include "tests/bench/support/pairs.hpp"
#include "tests/bench/support/share_view.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

#if FAIRGV_TENANTS == 3
constexpr const char* kName = "fair3";
const std::vector<std::uint32_t> kWeights{1, 2, 3};
const std::vector<std::string> kPrograms{"matrixMul", "hotspot", "BlackScholes", "srad"};
constexpr double kPaper = 0.99;  // FairGV's Min-Max Ratio at least, figure 8
#else
constexpr const char* kName = "fair6";
const std::vector<std::uint32_t> kWeights{1, 2, 2, 3, 3, 4};
const std::vector<std::string> kPrograms{"BlackScholes", "srad"};
constexpr double kPaper = 0.97;  // figure 9
#endif

// The run alone has no turns that could be cut off at its ends: it may be shorter.
constexpr double kAlonePart = 1.0 / 3;

// The lightest of six tenants has a turn of 6 ms in every 90: half a turn more or less at the ends of the
// window must not show.
constexpr double kWindow = 15;

struct Settings {
  std::vector<std::string> policies{"fair",        "fifo",      "round-robin",
                                    "credit-poll", "credit-hs", "strict-cosched"};
  std::vector<std::string> programs = kPrograms;
  Api api = Api::kOpenCl;
  PairSettings pairs{.seconds = kWindow};
};

struct Cell {
  std::string policy;
  std::string program;
  Spread min_max_ratio;
  Spread overhead;
};

/// `alone`: for each tenant, what its program does on the driver alone.
Fairness fairness_of(const std::vector<double>& together, const std::vector<double>& alone) {
  std::vector<Tenant> tenants(together.size());
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    tenants[i].weight = kWeights[i];
    tenants[i].together = together[i];
    tenants[i].alone = alone[i];
  }
  return bench::fairness_of(tenants);
}

/// What each tenant's program does alone; tenants that run the same one share the figure.
Result<std::vector<double>> measure_alone(Runs& runs, const std::vector<Program>& programs, double seconds) {
  std::map<Program, double> of_program;
  std::vector<double> alone;
  for (const Program& program : programs) {
    if (!of_program.contains(program)) {
      const auto throughput = runs.alone(program, seconds);
      if (!throughput) return throughput.error();
      of_program[program] = throughput.value();
    }
    alone.push_back(of_program[program]);
  }
  return alone;
}

std::vector<double> means_of(const std::vector<double>& before, const std::vector<double>& after) {
  std::vector<double> means;
  for (std::size_t i = 0; i < before.size(); ++i) means.push_back((before[i] + after[i]) / 2);
  return means;
}

Result<Cell> measure(Runs& runs, const std::string& policy, const std::string& name, Api api,
                     const PairSettings& settings) {
  std::vector<Program> programs;
  for (std::size_t i = 0; i < kWeights.size(); ++i) {
    programs.push_back({beside("workloads/" + workload_of(api, name, i))});
  }
  std::vector<double> ratios, overheads;
  auto before = measure_alone(runs, programs, kAlonePart * settings.seconds);
  for (int i = 0; i < settings.pairs; ++i) {
    if (!before) return before.error();
    const auto together = runs.together(policy, programs, settings.seconds, kWeights);
    if (!together) return together.error();
    const auto after = measure_alone(runs, programs, kAlonePart * settings.seconds);
    if (!after) return after.error();
    const Fairness fairness = fairness_of(together.value(), means_of(before.value(), after.value()));
    ratios.push_back(fairness.min_max_ratio);
    overheads.push_back(fairness.overhead);
    before = after;
  }
  return Cell{policy, name, spread_of(ratios), spread_of(overheads)};
}

Findings table_of(const std::vector<Cell>& cells) {
  Findings found{
      "policy,program,min_max_ratio,min_max_lowest,min_max_highest,overhead,overhead_lowest,overhead_highest",
      {}};
  for (const Cell& cell : cells) {
    const Spread& ratio = cell.min_max_ratio;
    const Spread& overhead = cell.overhead;
    found.rows.push_back(fmt::format("{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f}", cell.policy,
                                     cell.program, ratio.median, ratio.lowest, ratio.highest, overhead.median,
                                     overhead.lowest, overhead.highest));
  }
  return found;
}

Figure figure_of(const Settings& settings, const std::vector<Cell>& cells) {
  std::vector<Bar> bars;
  for (const Cell& cell : cells) bars.push_back({cell.policy, cell.program, cell.min_max_ratio});
  return bars_by_policy(
      settings.policies, bars,
      fmt::format("set yrange [0:1.05]; set ylabel 'Min-Max Ratio'; set title '{}: weights {}'", kName,
                  fmt::join(kWeights, ":")),
      fmt::format("{} title 'paper, FairGV'", kPaper));
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  fmt::print(
      "Min-Max Ratio (1 = exactly by weight) and overhead, each the median and lowest-highest of {}\n"
      "Weights {}; the paper's FairGV: at least {}\n\n{:<14}{:<16}{:>22}{:>22}\n",
      settings.pairs.pairs, fmt::join(kWeights, ","), kPaper, "program", "policy", "Min-Max Ratio",
      "overhead");
  std::fflush(stdout);
  auto runs = Runs::start(placement);
  if (!runs) return runs.error();
  ProgressLine progress(settings.programs.size() * settings.policies.size());
  std::vector<Cell> cells;
  for (const std::string& program : settings.programs) {
    for (const std::string& policy : settings.policies) {
      progress.step(fmt::format("{}, {}", program, policy));
      const auto cell = measure(runs.value(), policy, program, settings.api, settings.pairs);
      if (!cell) return cell.error();
      cells.push_back(cell.value());
      progress.print_row(fmt::format("{:<14}{:<16}{:>22}{:>22}", program, policy, shown(cell->min_max_ratio),
                                     shown(cell->overhead)));
    }
  }
  Findings found = table_of(cells);
  found.figure = figure_of(settings, cells);
  return found;
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  using namespace fairgv::bench;
  Experiment experiment(kName,
                        "Fairness and overhead of every scheduling policy, tenants of different weight");
  Settings settings;
  experiment.options()
      .add_option("--programs", settings.programs, "Workloads; all tenants run the same")
      ->delimiter(',')
      ->check(known_workload);
  declare_api(experiment.options(), settings.api, true);
  declare_policies(experiment, settings.policies);
  declare_pairs(experiment, settings.pairs);
  experiment.declare_figure();
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}
