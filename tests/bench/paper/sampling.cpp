// fairgv bench sampling: the cost of measuring every command by itself, with a wait behind each, instead of
// the first few of a turn (FairGV, section 3.3: up to 7 %). Under `fair-paper`, with sampling = "always"
// against sampling = "per-turn": two daemons, in which the same program takes turns with itself.
//
// A turn without an end is not measured, so in each daemon another tenant wants the device as well. It gets
// half of that, and is the same in both.
#include <fmt/core.h>

#include "tests/bench/support/api.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/bench/support/load/rivals.hpp"
#include "tests/bench/support/pairs.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::sampling_experiment {
namespace {

using namespace harness;

struct Settings {
  std::vector<std::string> programs{"srad", "hotspot", "scan", "matrixMul", "BlackScholes"};
  Api api = Api::kOpenCl;
  int workload_us = 0;
  int turns = 4;  // of each daemon, in a pair
  PairSettings pairs{.seconds = 1, .pairs = 3};
};

/// The daemon's [device]: always, or as published.
std::string configuration(const char* sampling) {
  return fmt::format("policy = \"fair-paper\"\nsampling = \"{}\"", sampling);
}

struct Cell {
  std::string program;
  Spread cost_percent;
};

/// Rounds per second of both tenants together.
Result<double> work_of(Rivals& rivals, double seconds) {
  FAIRGV_TRY(together, rivals.together(seconds));
  double all = 0;
  for (const double speed : together.value()) all += speed;
  return all;
}

Result<Cell> measure(const std::string& name, const Tenancy& always, const Tenancy& per_turn,
                     const Settings& settings, const Placement& placement, ProgressLine& progress) {
  FAIRGV_TRY(program, sized(workload_of(settings.api, name), settings.workload_us, placement));
  const std::vector<Program> two{program.value(), program.value()};
  std::vector<double> costs;
  for (int pair = 0; pair < settings.pairs.pairs; ++pair) {
    progress.step(name);
    FAIRGV_TRY(with, Rivals::start(always, placement, two, {}, "always"));
    FAIRGV_TRY(without, Rivals::start(per_turn, placement, two, {}, "per-turn"));
    double work_with = 0;
    double work_without = 0;
    for (int turn = 0; turn < settings.turns; ++turn) {
      // The daemon that goes first changes, so that a drift of the machine cancels.
      for (const bool first : {true, false}) {
        const bool is_with = first == (turn % 2 == 0);
        FAIRGV_TRY(work, work_of(is_with ? with.value() : without.value(), settings.pairs.seconds));
        (is_with ? work_with : work_without) += work.value();
      }
    }
    costs.push_back(100 * (1 - work_with / work_without));
    FAIRGV_CHECK(with->end());
    FAIRGV_CHECK(without->end());
  }
  return Cell{name, spread_of(costs)};
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(always, Tenancy::start(placement, {}, configuration("always")));
  FAIRGV_TRY(per_turn, Tenancy::start(placement, {}, configuration("per-turn")));
  fmt::print(
      "Work that two tenants lose if every command is measured by itself, over that with the first five of "
      "a\n"
      "turn: median, lowest-highest of {} pairs. The paper: up to 7 %\n\n{:<22}{:>26}\n",
      settings.pairs.pairs, "program", "cost, %");
  std::fflush(stdout);
  ProgressLine progress(settings.programs.size() * static_cast<std::size_t>(settings.pairs.pairs));
  Findings found{"program,cost_percent,lowest,highest", {}};
  for (const std::string& name : settings.programs) {
    FAIRGV_TRY(cell, measure(name, always.value(), per_turn.value(), settings, placement, progress));
    const Spread& cost = cell->cost_percent;
    progress.print_row(fmt::format("{:<22}{:>26}", name, shown(cost)));
    found.rows.push_back(
        fmt::format("{},{:.3f},{:.3f},{:.3f}", name, cost.median, cost.lowest, cost.highest));
  }
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("sampling", "The cost of measuring every command instead of the first few of a turn");
  Settings settings;
  experiment.options()
      .add_option("--programs", settings.programs, "Workloads; both tenants run the same")
      ->delimiter(',')
      ->check(known_workload);
  declare_api(experiment.options(), settings.api);
  declare_size(experiment.options(), settings.workload_us, "--workload-us");
  declare_pairs(experiment, settings.pairs);
  experiment.setting("--turns", settings.turns, 1, "Windows of each daemon in a pair")
      ->check(CLI::Range(1, 1'000));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"sampling", run};

}  // namespace
}  // namespace fairgv::bench::sampling_experiment
