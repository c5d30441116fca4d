// fairgv bench prelude: what programs pay for slicing whose launches are too short to be sliced. Throughput
// with slicing as configured, beside never sliced, in turns of milliseconds between two programs that run at
// the same time; and the time of clBuildProgram, in pairs of runs. Another tenant has the device open, so
// that launches would be cut if they were long.
//
// Two processes of one program differ for as long as they live, by where their memory happens to lie. So new
// ones meet again and again, and what two that are never sliced differ by is shown beside.
#include <fmt/core.h>

#include <cmath>
#include <numeric>

#include "tests/bench/support/alternation.hpp"
#include "tests/bench/support/command_line.hpp"
#include "tests/bench/support/company.hpp"
#include "tests/bench/support/pairs.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/bench/support/sliced.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

struct Settings {
  std::vector<std::string> programs{"matrixMul", "BlackScholes", "hotspot", "scan"};
  PairSettings pairs{.seconds = 0.1, .pairs = 9};  // of builds
  double turn_ms = 30;
  int turns = 50;     // of a meeting
  int meetings = 12;  // of two new processes
};

/// A mean, and within how much of it the true one lies nineteen times of twenty.
struct Estimate {
  double mean = 0;
  double within = 0;
};

/// Of values whose errors are independent.
Estimate estimate_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() < 2 ? 0 : 1.96 * std::sqrt(squares / (count - 1) / count)};
}

std::string shown(const Estimate& estimate) {
  return fmt::format("{:.4f} +- {:.4f}", estimate.mean, estimate.within);
}

struct Cell {
  std::string program;
  Estimate throughput{};  // as configured, over that never sliced
  Estimate control{};     // never sliced, over another one's that is never sliced
  double build_ms = 0;    // as configured
  double whole_build_ms = 0;
  Spread longer_ms{};  // what a build takes longer as configured
};

/// The median turn of each meeting: throughput with this slicing over that of a process that is never sliced.
Result<Estimate> meet(const Tenancy& tenancy, const Settings& settings, const std::string& program,
                      const Slicing& slicing) {
  const Program work{beside("workloads/" + program)};
  std::vector<double> ratios;
  for (int meeting = 0; meeting < settings.meetings; ++meeting) {
    auto looked_at = sliced(tenancy.tenant("bench", 1, work), slicing);
    auto whole = sliced(tenancy.tenant("whole", 1, work), kNeverSliced);
    // Whoever starts first gets other memory.
    const bool swapped = meeting % 2 != 0;
    if (swapped) std::swap(looked_at, whole);
    const auto turns = alternate(looked_at, whole, settings.turn_ms / 1e3, settings.turns);
    if (!turns) return turns.error();
    std::vector<double> of_turns;
    for (const Turns& turn : turns.value())
      of_turns.push_back(swapped ? turn.first / turn.second : turn.second / turn.first);
    ratios.push_back(median(of_turns));
  }
  return estimate_of(ratios);
}

void add_builds(Cell& cell, const std::vector<SlicedPair>& pairs) {
  std::vector<double> build, whole_build, longer;
  for (const SlicedPair& pair : pairs) {
    build.push_back(pair.sliced["build_ms"]);
    whole_build.push_back(pair.whole["build_ms"]);
    longer.push_back(build.back() - whole_build.back());
  }
  cell.build_ms = median(build);
  cell.whole_build_ms = median(whole_build);
  cell.longer_ms = spread_of(longer);
}

std::string csv_row(const Cell& cell) {
  return fmt::format("{},{:.4f},{:.4f},{:.4f},{:.4f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}", cell.program,
                     cell.throughput.mean, cell.throughput.within, cell.control.mean, cell.control.within,
                     cell.build_ms, cell.whole_build_ms, cell.longer_ms.median, cell.longer_ms.lowest,
                     cell.longer_ms.highest);
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  // PoCL keeps what it has compiled, and a build that finds everything there would tell nothing. What it
  // keeps nevertheless until a worker ends in peace, it keeps here.
  const ScratchFile compiled(".pocl");
  auto tenancy = Tenancy::start(placement, {{"POCL_KERNEL_CACHE", "0"}, {"POCL_CACHE_DIR", compiled.path()}});
  if (!tenancy) return tenancy.error();
  auto other = start_idle(tenancy.value(), {"idle"});
  if (!other) return other.error();
  fmt::print(
      "Programs that are never cut, slicing as configured over slicing off: throughput in {} meetings of {} "
      "turns of {} ms, builds in {} pairs\n\n"
      "{:<16}{:>22}{:>22}{:>14}{:>10}{:>28}\n",
      settings.meetings, settings.turns, settings.turn_ms, settings.pairs.pairs, "program", "throughput",
      "off over off", "build, ms", "off", "difference");
  std::fflush(stdout);
  ProgressLine progress(2 * settings.programs.size() * static_cast<std::size_t>(settings.pairs.pairs));
  Findings found{
      "program,throughput,within,off_over_off,off_within,build_ms,build_off_ms,build_longer_ms,build_longer_"
      "lowest,"
      "build_longer_highest",
      {}};
  for (const std::string& program : settings.programs) {
    const Program command{beside("workloads/" + program), "--seconds",
                          fmt::format("{}", settings.pairs.seconds)};
    const auto pairs =
        run_sliced_pairs(tenancy.value(), command, std::nullopt, settings.pairs.pairs, progress, program);
    if (!pairs) return pairs.error();
    Cell cell{program};
    const auto throughput = meet(tenancy.value(), settings, program, std::nullopt);
    if (!throughput) return throughput.error();
    const auto control = meet(tenancy.value(), settings, program, kNeverSliced);
    if (!control) return control.error();
    if (auto there = other->look(); !there) return there.error();
    cell.throughput = throughput.value();
    cell.control = control.value();
    add_builds(cell, pairs.value());
    progress.print_row(fmt::format("{:<16}{:>22}{:>22}{:>14.1f}{:>10.1f}{:>28}", program,
                                   shown(cell.throughput), shown(cell.control), cell.build_ms,
                                   cell.whole_build_ms,
                                   fmt::format("{:+.1f} {:+.1f} to {:+.1f}", cell.longer_ms.median,
                                               cell.longer_ms.lowest, cell.longer_ms.highest)));
    found.rows.push_back(csv_row(cell));
  }
  return found;
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  using namespace fairgv::bench;
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
  experiment.options()
      .add_option("--turn-ms", settings.turn_ms, "The length of a turn")
      ->check(CLI::Range(1.0, 10'000.0));
  declare_pairs(experiment, settings.pairs);
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}
