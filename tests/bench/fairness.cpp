// fairgv bench fair3, fairgv bench fair6: fairness and overhead of every scheduling policy (FairGV, sections
// 5.4.3 and 5.4.4, figures 8 and 9). The tenants run the same program. A tenant's share is its throughput
// over its due, as the paper defines it (section 5.4.1); the Min-Max Ratio is that of the shares that belong
// to the weights, each the mean of the runs. In the next run each weight is the next tenant's, until every
// tenant has had every weight: the loss of one process beside others can differ from that of an equal process
// by some per cent for as long as they live, whatever the scheduler does (rivals.hpp). Then new processes
// start. (The ratio of a single run is low if any tenant had luck or bad luck in it.) Where the tenants'
// programs differ (--api mixed), each throughput is divided by the speed of equal programs' kernels by
// themselves, as tenants in turns.
//
// With --pinned the clients share cores of the host, as in the paper: all of fair3 one core, and those of
// fair6 one core for each pair of neighbours, as far as there are cores. With --devices there are so many of
// the driver's devices, each with tenants of its own, and the results are those of the single devices.
//
// The completion time of a piece of work is that beside the others, over the time that the weights promise,
// on the driver alone: 1 is fair and free, less is faster.
//
// The overhead is the programs' throughput on the driver alone, in turns, over that of all tenants together
// in a short window between the turns: the median of many, taken over the windows where the machine was as
// fast before as after (harness/steady.hpp).
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "sched/policies/registry.hpp"
#include "tests/bench/support/api.hpp"
#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/bench/support/load/clients.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/devices.hpp"
#include "tests/bench/support/load/rivals.hpp"
#include "tests/bench/support/pairs.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/bars.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/text/share_view.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/harness/steady.hpp"

namespace fairgv::bench::fairness_experiment {
namespace {

using namespace harness;

/// The tenants of a figure of the paper.
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

// The lightest of six tenants has a turn of 15 ms in every 225: half a turn more or less at the ends of the
// window must not show.
constexpr double kWindow = 30;
// Some rounds of everybody's turns; beside it as many turns alone as take about as long.
constexpr double kShortWindow = 0.5;
constexpr int kTurnsBesideIt = 2;

std::vector<std::string> every_policy() {
  std::vector<std::string> names;
  for (const sched::PolicyInfo& info : sched::all_policies()) names.emplace_back(info.name);
  return names;
}

struct Settings {
  Tenants tenants;
  std::vector<std::string> policies = every_policy();
  std::vector<std::string> programs;
  Api api = Api::kOpenCl;
  std::string sync;  // the programs' own when empty
  int kernel_us = 0;
  PairSettings pairs{.seconds = kWindow, .turns = 5};
  int short_windows = 40;  // of each run, for the overhead
  bool pinned = false;

  std::size_t clients() const { return tenants.weights.size(); }  // of a device
};

/// The overhead by short windows.
struct Overhead {
  Spread of_windows;    // see spread_of_steady()
  double added_up = 0;  // everybody's work in all turns alone, over that in all windows
};

struct Cell {
  std::string policy;
  std::string program;
  std::vector<double> shares;      // of the weights, over their due: means of the single runs
  std::vector<double> completion;  // the same of completion times
  Spread min_max_ratio;            // of the shares, and of single runs
  Spread charged;                  // Min-Max Ratio of the device time charged, by weight
  Overhead overhead;
};

/// The device time that each was charged between two reports, over its weight.
Result<std::vector<double>> charged_by_weight(const nlohmann::json& before, const nlohmann::json& after,
                                              const std::vector<std::uint32_t>& weights) {
  auto charged = charged_between(before, after, numbered("tenant", static_cast<unsigned>(weights.size())));
  if (!charged) return charged;
  for (std::size_t i = 0; i < weights.size(); ++i) charged.value()[i] /= weights[i];
  return charged;
}

/// The findings of one run on one device.
struct Run {
  std::vector<double> shares;  // over their due
  std::vector<double> completion;
  double charged = 0;                  // the Min-Max Ratio of device time by weight
  std::vector<Observation> overheads;  // of its short windows
  double added_up = 0;                 // their overhead, see Overhead
};

/// The short windows of the runs on all devices.
Result<void> measure_overhead(Rivals& rivals, const std::vector<Program>& programs,
                              const std::vector<std::uint32_t>& weights, const Settings& settings,
                              std::vector<Run>& runs) {
  const auto by_themselves = [&] { return rivals.take_turns(kTurnsBesideIt, Rivals::Who::on_driver); };
  const auto overhead_on = [&](std::size_t device, const std::vector<double>& together,
                               const std::vector<double>& alone) {
    return fairness_of(of_device(weights, device, runs.size()), programs,
                       of_device(together, device, runs.size()), of_device(alone, device, runs.size()))
        .overhead;
  };
  // Sums: only their ratio is of interest.
  std::vector<double> all_together(weights.size(), 0);
  std::vector<double> all_alone(weights.size(), 0);
  FAIRGV_TRY(before, by_themselves());
  for (int window = 0; window < settings.short_windows; ++window) {
    FAIRGV_TRY(together, rivals.together(std::min(kShortWindow, settings.pairs.seconds)));
    FAIRGV_TRY(after, by_themselves());
    const std::vector<double> alone = mean_of(before.value(), after.value()).on_driver;
    const bool steady = was_steady(before->on_driver, after->on_driver);
    for (std::size_t device = 0; device < runs.size(); ++device) {
      runs[device].overheads.push_back({overhead_on(device, together.value(), alone), steady});
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      all_together[i] += together.value()[i];
      all_alone[i] += alone[i];
    }
    before = std::move(after);
  }
  for (std::size_t device = 0; device < runs.size(); ++device) {
    runs[device].added_up = overhead_on(device, all_together, all_alone);
  }
  return {};
}

/// A run for each device. `programs`: a device's, `weights`: everybody's.
Result<std::vector<Run>> run_once(const Tenancy& tenancy, Rivals& rivals,
                                  const std::vector<Program>& programs,
                                  const std::vector<std::uint32_t>& weights, const Settings& settings) {
  FAIRGV_CHECK(rivals.weigh(tenancy, weights));
  const bool are_alike = std::count(programs.begin(), programs.end(), programs.front()) ==
                         static_cast<std::ptrdiff_t>(programs.size());
  const auto who = are_alike ? Rivals::Who::on_driver : Rivals::Who::everybody;
  const auto by_themselves = [&] { return rivals.take_turns(settings.pairs.turns, who); };
  FAIRGV_TRY(before, by_themselves());
  FAIRGV_TRY(opened, look_at(tenancy));
  FAIRGV_TRY(together, rivals.together(settings.pairs.seconds));
  FAIRGV_TRY(closed, look_at(tenancy));
  FAIRGV_TRY(after, by_themselves());
  FAIRGV_TRY(charged, charged_by_weight(opened.value(), closed.value(), weights));
  const Rivals::Alone alone = mean_of(before.value(), after.value());
  const std::vector<double>& speeds = alone.tenants.empty() ? alone.on_driver : alone.tenants;
  std::vector<Run> runs(settings.pairs.devices);
  for (std::size_t device = 0; device < runs.size(); ++device) {
    const auto here = [&](const auto& all) { return of_device(all, device, runs.size()); };
    Run& run = runs[device];
    run.shares = fairness_of(here(weights), programs, here(together.value()), here(speeds)).relative;
    run.completion = completion_of(here(weights), programs, here(together.value()), here(alone.on_driver));
    run.charged = min_max_ratio(here(charged.value()));
  }
  FAIRGV_CHECK(measure_overhead(rivals, programs, weights, settings, runs));
  return runs;
}

/// As many runs as tenants at most, with the same processes. `on_driver`: the programs as they run alone.
Result<std::vector<Run>> run_in_turn(const Tenancy& tenancy, const Placement& placement,
                                     const std::vector<Program>& programs,
                                     const std::vector<Program>& on_driver, int runs,
                                     const Settings& settings) {
  FAIRGV_TRY(rivals, Rivals::start(tenancy, placement, programs, on_driver, {}, settings.pairs.devices));
  std::vector<Run> done;
  std::vector<std::uint32_t> weights = settings.tenants.weights;
  for (int i = 0; i < runs; ++i) {
    std::vector<std::uint32_t> of_all;
    for (std::size_t device = 0; device < settings.pairs.devices; ++device) {
      of_all.insert(of_all.end(), weights.begin(), weights.end());
    }
    FAIRGV_TRY(of_devices, run_once(tenancy, rivals.value(), on_driver, of_all, settings));
    for (Run& run : of_devices.value()) {
      // Back into the order of the weights.
      for (std::vector<double>* each : {&run.shares, &run.completion}) {
        std::rotate(each->begin(), each->end() - i, each->end());
      }
      done.push_back(std::move(run));
    }
    std::rotate(weights.begin(), weights.begin() + 1, weights.end());
  }
  FAIRGV_CHECK(rivals->end());
  return done;
}

/// The findings of all runs together.
Cell cell_of(const std::string& policy, const std::string& program, const std::vector<Run>& runs) {
  std::vector<double> ratios, charges, added_up;
  std::vector<std::vector<Observation>> overheads;
  std::vector<double> shares(runs.front().shares.size(), 0);
  std::vector<double> completion(shares.size(), 0);
  for (const Run& run : runs) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      shares[i] += run.shares[i] / static_cast<double>(runs.size());
      completion[i] += run.completion[i] / static_cast<double>(runs.size());
    }
    ratios.push_back(min_max_ratio(run.shares));
    charges.push_back(run.charged);
    overheads.push_back(run.overheads);
    added_up.push_back(run.added_up);
  }
  Cell cell{policy, program, shares, completion, spread_of(ratios), spread_of(charges), {}};
  cell.min_max_ratio.median = min_max_ratio(shares);
  cell.overhead = {spread_of_steady(overheads), median(added_up)};
  return cell;
}

Result<Cell> measure(const Tenancy& tenancy, const Placement& placement, const std::string& policy,
                     const std::string& name, const Settings& settings) {
  std::map<std::string, Program> sized_programs;  // by workload: sizing one takes a GPU seconds
  std::vector<Program> programs, on_driver;
  for (std::size_t client = 0; client < settings.clients(); ++client) {
    const std::string workload = workload_of(settings.api, name, client);
    if (!sized_programs.contains(workload)) {
      FAIRGV_TRY(found, sized(workload, settings.kernel_us, placement));
      sized_programs[workload] = std::move(found).value();
    }
    Program program = sized_programs[workload];
    if (!settings.sync.empty()) program.insert(program.end(), {"--sync", settings.sync});
    on_driver.push_back(program);
    programs.push_back(settings.pinned ? pinned(program, client, settings.clients(), placement) : program);
  }
  FAIRGV_CHECK(tenancy.set_policy(policy));
  const auto devices = static_cast<std::ptrdiff_t>(settings.pairs.devices);
  std::vector<Run> runs;
  while (std::ssize(runs) < settings.pairs.pairs * devices) {
    const auto left = settings.pairs.pairs - std::ssize(runs) / devices;
    const auto clients = static_cast<std::ptrdiff_t>(settings.clients());
    FAIRGV_TRY(more, run_in_turn(tenancy, placement, programs, on_driver,
                                 static_cast<int>(std::min(left, clients)), settings));
    std::move(more->begin(), more->end(), std::back_inserter(runs));
  }
  return cell_of(policy, name, runs);
}

Findings table_of(const std::vector<Cell>& cells) {
  Findings found{
      "policy,program,min_max_ratio,min_max_lowest,min_max_highest,overhead,overhead_lowest,overhead_highest,"
      "added_up,charged,charged_lowest,charged_highest,shares,completion",
      {}};
  for (const Cell& cell : cells) {
    const Spread& ratio = cell.min_max_ratio;
    const Spread& charged = cell.charged;
    const Spread& overhead = cell.overhead.of_windows;
    found.rows.push_back(fmt::format(
        "{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f}",
        cell.policy, cell.program, ratio.median, ratio.lowest, ratio.highest, overhead.median,
        overhead.lowest, overhead.highest, cell.overhead.added_up, charged.median, charged.lowest,
        charged.highest, fmt::join(cell.shares, ";"), fmt::join(cell.completion, ";")));
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
      "Min-Max Ratio (1 = exactly by weight) of the weights' shares, each the mean of {} runs, and\n"
      "lowest-highest of one run's; charged: the same of what a run was charged; overhead: median of\n"
      "short windows of a steady machine, lowest-highest of a run's, in parentheses all added up.\n"
      "Weights {}; the paper's FairGV: at least {}\n\n"
      "{:<22}{:<16}{:>22}{:>22}{:>30}   {:<24}   {}\n",
      settings.pairs.pairs, fmt::join(settings.tenants.weights, ","), settings.tenants.paper, "program",
      "policy", "Min-Max Ratio", "charged", "overhead", "shares over their due", "completion times");
  std::fflush(stdout);
  const std::size_t devices = settings.pairs.devices;
  FAIRGV_TRY(tenancy, start_on(devices, settings.pairs.configuration(), placement,
                               {numbered("tenant", static_cast<unsigned>(devices * settings.clients()))}));
  ProgressLine progress(settings.programs.size() * settings.policies.size());
  std::vector<Cell> cells;
  for (const std::string& program : settings.programs) {
    for (const std::string& policy : settings.policies) {
      progress.step(fmt::format("{}, {}", program, policy));
      FAIRGV_TRY(cell, measure(tenancy.value(), placement, policy, program, settings));
      cells.push_back(cell.value());
      const Overhead& overhead = cell->overhead;
      progress.print_row(fmt::format(
          "{:<22}{:<16}{:>22}{:>22}{:>30}   {:<24}   {:.3f}", program, policy, shown(cell->min_max_ratio),
          shown(cell->charged), fmt::format("{} ({:.3f})", shown(overhead.of_windows), overhead.added_up),
          fmt::format("{:.3f}", fmt::join(cell->shares, " ")), fmt::join(cell->completion, " ")));
    }
  }
  Findings found = table_of(cells);
  found.figure = figure_of(settings, cells);
  return found;
}

int run(const Tenants& tenants, int argc, char** argv) {
  Experiment experiment(tenants.name,
                        "Fairness and overhead of every scheduling policy, tenants of different weight");
  Settings settings;
  settings.tenants = tenants;
  settings.programs = tenants.programs;
  experiment.options()
      .add_option("--programs", settings.programs, "Workloads; all tenants run the same")
      ->delimiter(',')
      ->check(known_workload);
  declare_api(experiment.options(), settings.api, {.direct = true, .mixed = true});
  declare_size(experiment.options(), settings.kernel_us, "--kernel-us");
  experiment.options()
      .add_option(
          "--sync", settings.sync,
          "What the programs wait for (default: as each is); stream: never for all they have queued, so "
          "that programs that wait differently can be compared")
      ->check(CLI::IsMember({"every", "batch", "stream"}));
  declare_policies(experiment, settings.policies);
  declare_pairs(experiment, settings.pairs);
  declare_turns(experiment, settings.pairs);
  experiment
      .setting("--short-windows", settings.short_windows, 1,
               "Windows of 0.5 s after each of those, between turns by itself, for the overhead")
      ->check(CLI::Range(1, 1'000));
  declare_discipline(experiment, settings.pairs);
  experiment.options().add_flag(
      "--pinned", settings.pinned,
      "The clients share cores of the host: three of them one, six of them one for each pair");
  declare_devices(experiment, settings.pairs.devices, &settings.api);
  experiment.declare_figure();
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

// One program, two experiments.
const Registration three{"fair3", [](int argc, char** argv) { return run(figure_8(), argc, argv); }};
const Registration six{"fair6", [](int argc, char** argv) { return run(figure_9(), argc, argv); }};

}  // namespace
}  // namespace fairgv::bench::fairness_experiment
