// fairgv bench mixed: a program beside a neighbour of the same weight whose kernels are short or long
// (FairGV, section 5.5.1, figure 11). The neighbour never leaves the device idle, so half of it is the
// program's due, and its run time should double, whatever the length of the neighbour's kernels; where turns
// are given by the clock, long kernels take more. Every pair has processes of its own, the same under all
// policies: equal programs differ by the place of their memory. With --devices each device has a pair, and
// the results are those of the single devices.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "tests/bench/support/api.hpp"
#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/devices.hpp"
#include "tests/bench/support/load/visits.hpp"
#include "tests/bench/support/pairs.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/steady.hpp"

namespace fairgv::bench::mixed_experiment {
namespace {

using namespace harness;

constexpr double kIdeal = 2.0;
constexpr double kTolerance = 0.05;

struct Settings {
  std::vector<std::string> programs{"matrixMul", "hotspot"};
  std::vector<int> kernel_us{21, 50, 100, 200, 400, 800, 1605};  // the paper's range
  int workload_us = 0;
  std::vector<std::string> policies{"fair", "credit-poll"};
  Api api = Api::kOpenCl;
  // As many as that because single pairs of twelve turns have shown 1.8 to 2.4.
  PairSettings pairs{.seconds = 0.4, .pairs = 9, .turns = 24};
};

/// A turn beside the neighbour, between two alone: in seconds.
struct Turn {
  double before = 0;
  double beside = 0;
  double after = 0;
  /// The run time over that alone. Both neighbours count the same, so that a drift of the machine cancels.
  Observation run_time() const { return {2 * beside / (before + after), is_steady(before, after)}; }
};
using Turns = std::map<std::string, std::vector<std::vector<Turn>>>;  // by policy and device

/// The run time by all turns of a case.
struct RunTime {
  Spread of_turns;      // see spread_of_steady()
  double added_up = 0;  // all turns' times beside over those alone
};

/// The run time of `program` beside the neighbour over its run time alone, under one policy.
struct Cell {
  std::string program;
  std::string policy;
  int asked_us = 0;      // length of the neighbour's kernels
  double kernel_us = 0;  // their mean time
  RunTime run_time;
};

/// `of_pairs`: at least one, each of at least one turn.
RunTime summary_of(const std::vector<std::vector<Turn>>& of_pairs) {
  std::vector<std::vector<Observation>> run_times;
  double alone = 0;
  double beside = 0;
  for (const std::vector<Turn>& turns : of_pairs) {
    std::vector<Observation>& of_pair = run_times.emplace_back();
    for (const Turn& turn : turns) {
      of_pair.push_back(turn.run_time());
      alone += (turn.before + turn.after) / 2;
      beside += turn.beside;
    }
  }
  return {spread_of_steady(run_times), beside / alone};
}

Result<Turns> measure_pair(const Tenancy& tenancy, const Placement& placement, const Settings& settings,
                           const Program& foreground, const Program& neighbour) {
  Visits visits;
  FAIRGV_TRY(started, visits.start(tenancy, placement, foreground, neighbour, settings.pairs.seconds / kIdeal,
                                   settings.pairs.devices));
  std::vector<std::string> policies = settings.policies;
  Turns turns;
  FAIRGV_TRY(before, visits.alone());
  for (int turn = 0; turn < settings.pairs.turns; ++turn) {
    for (const std::string& policy : policies) {
      FAIRGV_CHECK(tenancy.set_policy(policy));
      FAIRGV_TRY(beside, visits.beside());
      FAIRGV_TRY(after, visits.alone());
      turns[policy].resize(settings.pairs.devices);
      for (std::size_t device = 0; device < settings.pairs.devices; ++device) {
        turns[policy][device].push_back(
            {before.value()[device], beside.value()[device], after.value()[device]});
      }
      before = after;
    }
    // The policy that goes first changes, so that a drift of the machine cancels.
    std::reverse(policies.begin(), policies.end());
  }
  FAIRGV_CHECK(visits.end());
  return turns;
}

/// The run times of all pairs, by policy.
Result<std::map<std::string, RunTime>> measure(const Tenancy& tenancy, const Placement& placement,
                                               const Settings& settings, const Program& foreground,
                                               const Program& neighbour) {
  std::map<std::string, std::vector<std::vector<Turn>>> of_pairs;
  for (int pair = 0; pair < settings.pairs.pairs; ++pair) {
    FAIRGV_TRY(found, measure_pair(tenancy, placement, settings, foreground, neighbour));
    for (auto& [policy, of_devices] : found.value()) {
      for (std::vector<Turn>& turns : of_devices) of_pairs[policy].push_back(std::move(turns));
    }
  }
  std::map<std::string, RunTime> run_times;
  for (const auto& [policy, pairs] : of_pairs) run_times[policy] = summary_of(pairs);
  return run_times;
}

Findings table_of(const std::vector<Cell>& cells) {
  Findings found{"program,policy,asked_us,kernel_us,normalised_run_time,lowest,highest,added_up", {}};
  for (const Cell& cell : cells) {
    found.rows.push_back(fmt::format("{},{},{},{:.1f},{:.4f},{:.4f},{:.4f},{:.4f}", cell.program, cell.policy,
                                     cell.asked_us, cell.kernel_us, cell.run_time.of_turns.median,
                                     cell.run_time.of_turns.lowest, cell.run_time.of_turns.highest,
                                     cell.run_time.added_up));
  }
  return found;
}

/// A plot for each program, a curve for each policy over the length of the neighbour's kernels.
Figure figure_of(const Settings& settings, const std::vector<Cell>& cells) {
  const auto [shortest, longest] = std::minmax_element(
      cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return a.kernel_us < b.kernel_us; });
  std::string script = fmt::format(
      "set multiplot layout 1,{}; set logscale x; set xrange [{}:{}]; set yrange [0:*]; set grid\n"
      "set xlabel 'kernels of the neighbour (us)'; set ylabel 'normalised run time'; set key bottom left\n",
      settings.programs.size(), 0.7 * shortest->kernel_us, 1.4 * longest->kernel_us);
  for (const std::string& program : settings.programs) {
    std::string curves;
    for (const std::string& policy : settings.policies) {
      const std::string block = fmt::format("$curve{}", script.size());
      script += block + " << END\n";
      for (const Cell& cell : cells) {
        if (cell.program != program || cell.policy != policy) continue;
        script += fmt::format("{:.1f} {:.4f} {:.4f} {:.4f}\n", cell.kernel_us, cell.run_time.of_turns.median,
                              cell.run_time.of_turns.lowest, cell.run_time.of_turns.highest);
      }
      script += "END\n";
      curves += fmt::format(", {} with yerrorlines lw 2 title '{}'", block, policy);
    }
    script += fmt::format(
        "set title '{}'\n"
        "plot '+' using 1:({}):({}) with filledcurves lc rgb '#dddddd' title 'within {:.0f} %'"
        ", {} lc rgb 'black' title 'by weight'{}\n",
        program, kIdeal * (1 - kTolerance), kIdeal * (1 + kTolerance), 100 * kTolerance, kIdeal, curves);
  }
  return {480 * static_cast<unsigned>(settings.programs.size()), 400, script};
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  fmt::print(
      "Run time beside a computeLoop of the same weight, over run time alone right before and after: by\n"
      "weight {:.1f}. Median of the turns of a steady machine, lowest-highest of a pair's; in\n"
      "parentheses all turns added up\n\n",
      kIdeal);
  fmt::print("{:<14}{:>16}", "program", "neighbour, us");
  for (const std::string& policy : settings.policies) fmt::print("{:>30}", policy);
  fmt::print("\n");
  const std::size_t devices = settings.pairs.devices;
  FAIRGV_TRY(tenancy, start_on(devices, settings.pairs.configuration(), placement,
                               {numbered("tenant", static_cast<unsigned>(2 * devices))}));
  ProgressLine progress(settings.programs.size() * settings.kernel_us.size());
  std::vector<CalibratedLoop> loops;
  for (const int length : settings.kernel_us) {
    FAIRGV_TRY(loop, calibrate_loop(length, "0.3", placement, settings.api));
    loops.push_back(loop.value());
  }
  std::vector<Cell> cells;
  for (const std::string& program : settings.programs) {
    FAIRGV_TRY(foreground, sized(workload_of(settings.api, program), settings.workload_us, placement));
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const int length = settings.kernel_us[i];
      progress.step(fmt::format("{} beside {} us", program, length));
      FAIRGV_TRY(found, measure(tenancy.value(), placement, settings, foreground.value(),
                                saturating(loops[i], settings.api)));
      std::string row = fmt::format("{:<14}{:>16.0f}", program, loops[i].kernel_us);
      for (const std::string& policy : settings.policies) {
        const RunTime& run_time = found.value()[policy];
        cells.push_back({program, policy, length, loops[i].kernel_us, run_time});
        row += fmt::format("{:>30}", fmt::format("{} ({:.3f})", shown(run_time.of_turns), run_time.added_up));
      }
      progress.print_row(row);
    }
  }
  Findings found = table_of(cells);
  found.figure = figure_of(settings, cells);
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("mixed",
                        "A program's run time beside a neighbour with short or long kernels, by policy");
  Settings settings;
  experiment.options()
      .add_option("--programs", settings.programs, "Workloads to look at")
      ->delimiter(',')
      ->check(known_workload);
  experiment
      .setting("--kernel-us", settings.kernel_us, {21, 1605},
               "Lengths of the neighbour's kernels, in microseconds")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000));
  declare_size(experiment.options(), settings.workload_us, "--workload-us");
  declare_api(experiment.options(), settings.api, {.direct = true});
  declare_policies(experiment, settings.policies);
  declare_pairs(experiment, settings.pairs);
  experiment
      .setting("--turns", settings.pairs.turns, 1, "Turns of each pair: by itself, and beside the neighbour")
      ->check(CLI::Range(1, 1'000));
  declare_discipline(experiment, settings.pairs);
  declare_devices(experiment, settings.pairs.devices, &settings.api);
  experiment.declare_figure();
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"mixed", run};

}  // namespace
}  // namespace fairgv::bench::mixed_experiment
