// fairgv bench overhead: the cost of running through FairGV for a program that has the device for itself.
// Every workload, and compute loops of several kernel lengths, run in pairs, bare and as the only tenant; the
// overhead is the bare throughput over the tenant's (figures 2 and 7 of the FairGV paper). The two of a pair
// take turns, so that the machine's faster and slower seconds fall on both; every pair has processes of its
// own, since equal programs differ by the place of their memory. All loops launch equally often between two
// clFinish, so that only the length of their kernels tells them apart.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/bench/support/api.hpp"
#include "tests/bench/support/load/alternation.hpp"
#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/bench/support/pairs.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::overhead_experiment {
namespace {

using namespace harness;

struct Settings {
  // The paper's lengths (21, 285, 391) are among them.
  std::vector<int> kernel_us{21, 50, 100, 200, 285, 391, 500, 1'000};
  unsigned batch = 12;
  std::string only;
  Api api = Api::kOpenCl;
  int workload_us = 0;
  PairSettings pairs{.seconds = 2, .pairs = 5};
};

/// Long beside the wait at a turn's end, short beside the machine's faster and slower seconds.
constexpr double kTurnSeconds = 0.1;

/// GVirtuS, which traps into the operating system for every request: the points that section 3.1 of the paper
/// states of its figure 2.
struct Published {
  int kernel_us;
  double overhead;
};
constexpr std::array<Published, 3> kGVirtuS{{{21, 1.45}, {285, 1.05}, {391, 1.0}}};

struct Case {
  std::string name;
  Program program;   // of a workload only its name: it is still to be sized
  int asked_us = 0;  // kernels of a compute loop that is still to be calibrated
};

struct Cell {
  std::string name;
  int asked_us = 0;
  std::string unit;
  double kernel_us = 0;  // their time on the driver alone
  double bare = 0;       // throughputs
  double tenant = 0;
  Spread overhead{};
};

std::vector<Case> cases_of(const Settings& settings) {
  std::vector<Case> cases;
  for (const int length : settings.kernel_us) {
    cases.push_back({fmt::format("computeLoop {} us", length),
                     {beside("workloads/" + workload_of(settings.api, "computeLoop"))},
                     length});
  }
  for (const char* name : {"matrixMul", "BlackScholes", "hotspot", "srad", "scan", "convolutionSeparable",
                           "histogram", "cfd", "heartwall", "lavaMD", "nw", "pathfinder"}) {
    cases.push_back({name, {workload_of(settings.api, name)}});
  }
  std::erase_if(cases, [&](const Case& each) { return each.name.find(settings.only) == std::string::npos; });
  return cases;
}

Result<Program> program_of(const Case& wanted, const Settings& settings, const Placement& placement) {
  if (wanted.asked_us == 0) return sized(wanted.program.front(), settings.workload_us, placement);
  Program program = wanted.program;
  FAIRGV_TRY(loop, calibrate_loop(wanted.asked_us, fmt::format("{}", settings.pairs.seconds), placement,
                                  settings.api));
  program.insert(program.end(), {"--iterations", std::to_string(loop->iterations), "--batch",
                                 std::to_string(settings.batch)});
  return program;
}

Result<Cell> measure(const Case& wanted, const Tenancy& tenancy, const Settings& settings,
                     const Placement& placement, ProgressLine& progress) {
  FAIRGV_TRY(program, program_of(wanted, settings, placement));
  Cell cell{wanted.name, wanted.asked_us, {}};
  std::vector<double> alone, ours, ratios, kernel;
  const std::vector<CommandLine> both{bare(program.value(), placement),
                                      tenancy.tenant("bench", 1, program.value())};
  const int turns = std::max(1, static_cast<int>(std::lround(settings.pairs.seconds / kTurnSeconds)));
  for (int pair = 0; pair < settings.pairs.pairs; ++pair) {
    progress.step(wanted.name);
    FAIRGV_TRY(found, run_in_turns(both, Waits::kOwn, kTurnSeconds, turns));
    const InTurns& on_driver = found.value()[0];
    alone.push_back(harmonic_mean(on_driver.throughputs));
    ours.push_back(harmonic_mean(found.value()[1].throughputs));
    kernel.push_back(on_driver.result["kernel_us"]);
    ratios.push_back(alone.back() / ours.back());
    cell.unit = on_driver.result["unit"];
  }
  cell.kernel_us = median(kernel);
  cell.bare = median(alone);
  cell.tenant = median(ours);
  cell.overhead = spread_of(ratios);
  return cell;
}

Findings table_of(const std::vector<Cell>& cells) {
  Findings found{"case,asked_us,kernel_us,unit,driver,fairgv,overhead,lowest,highest", {}};
  for (const Cell& cell : cells) {
    found.rows.push_back(fmt::format("{},{},{:.1f},{},{:.6g},{:.6g},{:.4f},{:.4f},{:.4f}", cell.name,
                                     cell.asked_us, cell.kernel_us, cell.unit, cell.bare, cell.tenant,
                                     cell.overhead.median, cell.overhead.lowest, cell.overhead.highest));
  }
  return found;
}

/// The compute loops as a curve, the workloads as points with their names, GVirtuS as it was published.
Figure figure_of(const std::vector<Cell>& cells) {
  std::string loops, workloads, published;
  for (const Cell& cell : cells) {
    if (cell.asked_us > 0) {
      loops += fmt::format("{:.1f} {:.4f} {:.4f} {:.4f}\n", cell.kernel_us, cell.overhead.median,
                           cell.overhead.lowest, cell.overhead.highest);
    } else {
      workloads += fmt::format("{:.1f} {:.4f} {}\n", cell.kernel_us, cell.overhead.median, cell.name);
    }
  }
  for (const Published& point : kGVirtuS)
    published += fmt::format("{} {}\n", point.kernel_us, point.overhead);
  std::string script =
      "set logscale x; set grid; set xlabel 'kernel (us)'; set ylabel 'overhead'; set yrange [*<0.9:1.5<*]\n";
  std::string plots = "1 lc rgb 'black' title 'none'";
  const auto add = [&](const char* block, const std::string& points, const char* how) {
    if (points.empty()) return;
    script += fmt::format("{} << END\n{}END\n", block, points);
    plots += fmt::format(", {} {}", block, how);
  };
  add("$loops", loops, "with yerrorlines lw 2 title 'FairGV, compute loops'");
  add("$workloads", workloads, "with points pt 6 title 'FairGV, workloads'");
  if (!workloads.empty())
    plots += ", $workloads with labels rotate by 45 left offset 0.5,0.5 font ',9' notitle";
  add("$published", published,
      "with points pt 9 ps 1.5 lc rgb 'dark-red' title 'GVirtuS (FairGV paper, figure 2)'");
  return {800, 480, script + "plot " + plots + '\n'};
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  const std::vector<Case> cases = cases_of(settings);
  if (cases.empty()) return Error{"no case is called '" + settings.only + "'"};
  FAIRGV_TRY(tenancy, Tenancy::start(placement));
  fmt::print(
      "Throughput on the driver alone over that as the only tenant, {} pairs of {} s or more each, in turns\n"
      "Compute loops call clFinish after every {} launches\n\n",
      settings.pairs.pairs, settings.pairs.seconds, settings.batch);
  fmt::print("{:<24}{:>10}{:>12}{:>12}{:>22}\n", "", "kernel us", "driver", "FairGV", "overhead");
  std::fflush(stdout);
  ProgressLine progress(cases.size() * static_cast<std::size_t>(settings.pairs.pairs));
  std::vector<Cell> cells;
  std::vector<double> overheads;
  double sum = 0;
  for (const Case& each : cases) {
    FAIRGV_TRY(cell, measure(each, tenancy.value(), settings, placement, progress));
    cells.push_back(cell.value());
    overheads.push_back(cell->overhead.median);
    sum += overheads.back();
    progress.print_row(fmt::format("{:<24}{:>10.0f}{:>12.4g}{:>12.4g}{:>22}", cell->name, cell->kernel_us,
                                   cell->bare, cell->tenant, shown(cell->overhead)));
  }
  fmt::print("worst {:.3f}, mean {:.3f}\n", largest(overheads), sum / static_cast<double>(overheads.size()));
  fmt::print("GVirtuS, as the FairGV paper published it (figure 2):");
  for (const Published& point : kGVirtuS) fmt::print("  {:.2f} at {} us", point.overhead, point.kernel_us);
  fmt::print("\n");
  Findings found = table_of(cells);
  found.figure = figure_of(cells);
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("overhead",
                        "Standalone overhead: each workload through FairGV beside the driver alone");
  Settings settings;
  experiment
      .setting("--kernel-us", settings.kernel_us, {21, 1'000},
               "Kernel lengths of the compute loop, in microseconds")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000));
  experiment.options()
      .add_option("--batch", settings.batch, "Launches of the compute loop between two clFinish")
      ->check(CLI::Range(1, 100'000));
  experiment.options().add_option("--only", settings.only, "Only cases whose name contains this");
  declare_size(experiment.options(), settings.workload_us, "--workload-us");
  declare_api(experiment.options(), settings.api, {.direct = true});
  declare_pairs(experiment, settings.pairs);
  experiment.declare_figure();
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"overhead", run};

}  // namespace
}  // namespace fairgv::bench::overhead_experiment
