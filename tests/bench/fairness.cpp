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
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/share_view.hpp"

namespace fairgv::bench::fairness_experiment {
namespace {

using namespace harness;

/// What the paper has a figure of.
struct Tenants {
  std::string name;  // of the experiment
  std::vector<std::uint32_t> weights;
  std::vector<std::string> programs;
  double paper;  // FairGV's Min-Max Ratio is at least this
};

Tenants figure_8() {
  return {"fair3", {1, 2, 3}, {"matrixMul", "hotspot", "BlackScholes", "srad"}, 0.99};
}

Tenants figure_9() {
  return {"fair6", {1, 2, 2, 3, 3, 4}, {"BlackScholes", "srad"}, 0.97};
}

// The run alone has no turns that could be cut off at its ends: it may be shorter.
constexpr double kAlonePart = 1.0 / 3;

// The lightest of six tenants has a turn of 6 ms in every 90: half a turn more or less at the ends of the
// window must not show.
constexpr double kWindow = 15;

struct Settings {
  Tenants tenants;
  std::vector<std::string> policies{"fair",        "fifo",      "round-robin",
                                    "credit-poll", "credit-hs", "strict-cosched"};
  std::vector<std::string> programs = tenants.programs;
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
Fairness fairness_of(const std::vector<std::uint32_t>& weights, const std::vector<double>& together,
                     const std::vector<double>& alone) {
  std::vector<Tenant> tenants(weights.size());
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    tenants[i].weight = weights[i];
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

Result<Cell> measure(Runs& runs, const std::string& policy, const std::string& name,
                     const Settings& settings) {
  const std::vector<std::uint32_t>& weights = settings.tenants.weights;
  const double seconds = settings.pairs.seconds;
  std::vector<Program> programs;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    programs.push_back({beside("workloads/" + workload_of(settings.api, name, i))});
  }
  std::vector<double> ratios, overheads;
  auto before = measure_alone(runs, programs, kAlonePart * seconds);
  for (int i = 0; i < settings.pairs.pairs; ++i) {
    if (!before) return before.error();
    const auto together = runs.together(policy, programs, seconds, weights);
    if (!together) return together.error();
    const auto after = measure_alone(runs, programs, kAlonePart * seconds);
    if (!after) return after.error();
    const Fairness fairness = fairness_of(weights, together.value(), means_of(before.value(), after.value()));
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
      fmt::format("set yrange [0:1.05]; set ylabel 'Min-Max Ratio'; set title '{}: weights {}'",
                  settings.tenants.name, fmt::join(settings.tenants.weights, ":")),
      fmt::format("{} title 'paper, FairGV'", settings.tenants.paper));
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  fmt::print(
      "Min-Max Ratio (1 = exactly by weight) and overhead, each the median and lowest-highest of {}\n"
      "Weights {}; the paper's FairGV: at least {}\n\n{:<14}{:<16}{:>22}{:>22}\n",
      settings.pairs.pairs, fmt::join(settings.tenants.weights, ","), settings.tenants.paper, "program",
      "policy", "Min-Max Ratio", "overhead");
  std::fflush(stdout);
  auto runs = Runs::start(placement);
  if (!runs) return runs.error();
  ProgressLine progress(settings.programs.size() * settings.policies.size());
  std::vector<Cell> cells;
  for (const std::string& program : settings.programs) {
    for (const std::string& policy : settings.policies) {
      progress.step(fmt::format("{}, {}", program, policy));
      const auto cell = measure(runs.value(), policy, program, settings);
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

int run(const Tenants& tenants, int argc, char** argv) {
  Experiment experiment(tenants.name,
                        "Fairness and overhead of every scheduling policy, tenants of different weight");
  Settings settings{.tenants = tenants};
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

// One program, two experiments.
const Registration three{"fair3", [](int argc, char** argv) { return run(figure_8(), argc, argv); }};
const Registration six{"fair6", [](int argc, char** argv) { return run(figure_9(), argc, argv); }};

}  // namespace
}  // namespace fairgv::bench::fairness_experiment
