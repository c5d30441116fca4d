// fairgv bench prelude: the cost of slicing for programs whose launches are too short to be sliced.
// Throughput with slicing as configured, beside never sliced, in turns of milliseconds between two programs
// that run at the same time; and the time of clBuildProgram, whose turns are one build each. Another tenant
// has the device open, so that launches would be cut if they were long.
//
// Two processes of one program differ for as long as they live, by the place of their memory. So new
// processes meet again and again, and the difference between two that are never sliced is shown beside.
#include <fmt/core.h>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/alternation.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/bench/support/sliced.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/bench/support/text/progress_line.hpp"

namespace fairgv::bench::prelude_experiment {
namespace {

using namespace harness;

struct Settings {
  std::vector<std::string> programs{"matrixMul", "BlackScholes", "hotspot", "scan"};
  int meetings = 12;  // of two new processes
  double turn_ms = 30;
  int turns = 50;   // of a meeting
  int builds = 10;  // of a meeting
};

struct Cell {
  std::string program;
  Estimate throughput{};  // as configured, over that never sliced
  Estimate control{};     // never sliced, over another program that is never sliced
  double build_ms = 0;    // as configured
  double whole_build_ms = 0;
  Estimate longer_ms{};  // additional time of a build as configured
};

Twins twins_of(const Tenancy& tenancy, const std::string& program, const Slicing& slicing) {
  const std::vector<std::string> command{beside("workloads/" + program)};
  return {tenancy.tenant("bench", 1, command), slicing, tenancy.tenant("whole", 1, command)};
}

/// The program's throughput over that of its twin.
Result<Estimate> compare_throughput(const Settings& settings, const Twins& twins, ProgressLine& progress,
                                    const std::string& what) {
  FAIRGV_TRY(ratios,
             twins.compare(settings.meetings, settings.turn_ms / 1e3, settings.turns, progress, what));
  return estimate_of(ratios.value());
}

Result<void> compare_builds(const Settings& settings, const Twins& twins, ProgressLine& progress,
                            Cell& cell) {
  std::vector<double> longer, build, whole_build;
  for (int meeting = 0; meeting < settings.meetings; ++meeting) {
    progress.step(cell.program + ", builds");
    const auto turns = twins.meet(meeting, [&](const CommandLine& first, const CommandLine& second) {
      return alternate_builds(first, second, settings.builds);
    });
    if (!turns) return turns.error();
    std::vector<double> of_turns;
    for (const Turns& turn : turns.value()) {
      of_turns.push_back((turn.first - turn.second) * 1e3);
      build.push_back(turn.first * 1e3);
      whole_build.push_back(turn.second * 1e3);
    }
    longer.push_back(median(of_turns));
  }
  cell.longer_ms = estimate_of(longer);
  cell.build_ms = median(build);
  cell.whole_build_ms = median(whole_build);
  return {};
}

std::string row_of(const Cell& cell) {
  return fmt::format("{:<16}{:>22}{:>22}{:>14.1f}{:>10.1f}{:>18}", cell.program, shown(cell.throughput),
                     shown(cell.control), cell.build_ms, cell.whole_build_ms,
                     fmt::format("{:+.2f} +- {:.2f}", cell.longer_ms.mean, cell.longer_ms.within));
}

std::string csv_row(const Cell& cell) {
  return fmt::format("{},{:.4f},{:.4f},{:.4f},{:.4f},{:.3f},{:.3f},{:.3f},{:.3f}", cell.program,
                     cell.throughput.mean, cell.throughput.within, cell.control.mean, cell.control.within,
                     cell.build_ms, cell.whole_build_ms, cell.longer_ms.mean, cell.longer_ms.within);
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  // PoCL keeps compiled code, and a build that finds all its code there would tell nothing. This folder takes
  // whatever PoCL keeps nevertheless until a worker ends in peace.
  const ScratchFile compiled(".pocl");
  FAIRGV_TRY(tenancy,
             Tenancy::start(placement, {{"POCL_KERNEL_CACHE", "0"}, {"POCL_CACHE_DIR", compiled.path()}}));
  FAIRGV_TRY(other, start_idle(tenancy.value(), {"idle"}));
  fmt::print(
      "Programs that are never cut, slicing as configured over slicing off, in {} meetings of {} turns of {} "
      "ms "
      "and of {} builds\n\n"
      "{:<16}{:>22}{:>22}{:>14}{:>10}{:>18}\n",
      settings.meetings, settings.turns, settings.turn_ms, settings.builds, "program", "throughput",
      "off over off", "build, ms", "off", "difference");
  std::fflush(stdout);
  ProgressLine progress(3 * settings.programs.size() * static_cast<std::size_t>(settings.meetings));
  Findings found{
      "program,throughput,within,off_over_off,off_within,build_ms,build_off_ms,build_longer_ms,build_within",
      {}};
  for (const std::string& program : settings.programs) {
    const Twins twins = twins_of(tenancy.value(), program, std::nullopt);
    Cell cell{program};
    FAIRGV_TRY(throughput, compare_throughput(settings, twins, progress, program));
    FAIRGV_TRY(control, compare_throughput(settings, twins_of(tenancy.value(), program, kNeverSliced),
                                           progress, program + ", control"));
    cell.throughput = throughput.value();
    cell.control = control.value();
    FAIRGV_CHECK(compare_builds(settings, twins, progress, cell));
    FAIRGV_CHECK(other->look());
    progress.print_row(row_of(cell));
    found.rows.push_back(csv_row(cell));
  }
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("prelude", "What programs that are never sliced pay for slicing");
  Settings settings;
  experiment.options()
      .add_option("--programs", settings.programs, "Workloads to look at")
      ->delimiter(',')
      ->check(known_workload);
  experiment.setting("--meetings", settings.meetings, 2, "Of two new processes, for the throughput")
      ->check(CLI::Range(1, 1'000));
  experiment.setting("--turns", settings.turns, 10, "Of each process in a meeting")
      ->check(CLI::Range(1, 100'000));
  experiment.setting("--builds", settings.builds, 2, "Of each process in another meeting")
      ->check(CLI::Range(1, 100'000));
  experiment.options()
      .add_option("--turn-ms", settings.turn_ms, "The length of a turn")
      ->check(CLI::Range(1.0, 10'000.0));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"prelude", run};

}  // namespace
}  // namespace fairgv::bench::prelude_experiment
