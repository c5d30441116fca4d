// fairgv bench prelude: what programs pay for slicing whose launches are too short to be sliced. Throughput
// with slicing as configured, beside never sliced, in turns of milliseconds between two programs that run at
// the same time; and the time of clBuildProgram, in pairs of runs. Another tenant has the device open, so
// that launches would be cut if they were long.
#include <fmt/core.h>

#include <cmath>

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
  int turns = 400;
};

/// The middle value, and within how much of it the true one lies nineteen times of twenty.
struct Estimate {
  double middle = 0;
  double within = 0;
};

/// Of values whose errors are independent: the ranks about half of all that a coin's throws lie between.
Estimate estimate_of(const std::vector<double>& values) {
  const double reach = 50 * 1.96 / std::sqrt(static_cast<double>(values.size()));  // per cent
  const double low = percentile(values, std::max(50 - reach, 0.001));
  const double high = percentile(values, std::min(50 + reach, 100.0));
  return {median(values), (high - low) / 2};
}

struct Cell {
  std::string program;
  Estimate throughput{};  // as configured, over that never sliced
  double build_ms = 0;    // as configured
  double whole_build_ms = 0;
  Spread longer_ms{};  // what a build takes longer as configured
};

Cell cell_of(const std::string& program, const std::vector<Turns>& turns,
             const std::vector<SlicedPair>& pairs) {
  std::vector<double> throughput, build, whole_build, longer;
  for (const Turns& turn : turns) throughput.push_back(turn.second / turn.first);
  for (const SlicedPair& pair : pairs) {
    build.push_back(pair.sliced["build_ms"]);
    whole_build.push_back(pair.whole["build_ms"]);
    longer.push_back(build.back() - whole_build.back());
  }
  return {program, estimate_of(throughput), median(build), median(whole_build), spread_of(longer)};
}

std::string csv_row(const Cell& cell) {
  return fmt::format("{},{:.4f},{:.4f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}", cell.program,
                     cell.throughput.middle, cell.throughput.within, cell.build_ms, cell.whole_build_ms,
                     cell.longer_ms.median, cell.longer_ms.lowest, cell.longer_ms.highest);
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
      "Programs that are never cut, slicing as configured over slicing off: throughput in {} turns of {} ms, "
      "builds in {} pairs\n\n"
      "{:<16}{:>22}{:>14}{:>10}{:>28}\n",
      settings.turns, settings.turn_ms, settings.pairs.pairs, "program", "throughput", "build, ms", "off",
      "difference");
  std::fflush(stdout);
  ProgressLine progress(2 * settings.programs.size() * static_cast<std::size_t>(settings.pairs.pairs));
  Findings found{
      "program,throughput,within,build_ms,build_off_ms,build_longer_ms,build_longer_lowest,"
      "build_longer_highest",
      {}};
  for (const std::string& program : settings.programs) {
    const Program command{beside("workloads/" + program), "--seconds",
                          fmt::format("{}", settings.pairs.seconds)};
    const auto pairs =
        run_sliced_pairs(tenancy.value(), command, std::nullopt, settings.pairs.pairs, progress, program);
    if (!pairs) return pairs.error();
    const Program work{beside("workloads/" + program)};
    const auto turns = alternate(sliced(tenancy.value().tenant("bench", 1, work), std::nullopt),
                                 sliced(tenancy.value().tenant("whole", 1, work), kNeverSliced),
                                 settings.turn_ms / 1e3, settings.turns);
    if (!turns) return turns.error();
    if (auto there = other->look(); !there) return there.error();
    const Cell cell = cell_of(program, turns.value(), pairs.value());
    progress.print_row(
        fmt::format("{:<16}{:>22}{:>14.1f}{:>10.1f}{:>28}", program,
                    fmt::format("{:.4f} +- {:.4f}", cell.throughput.middle, cell.throughput.within),
                    cell.build_ms, cell.whole_build_ms,
                    fmt::format("{:+.1f} {:+.1f} to {:+.1f}", cell.longer_ms.median, cell.longer_ms.lowest,
                                cell.longer_ms.highest)));
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
  experiment.setting("--turns", settings.turns, 10, "Of each program, for its throughput")
      ->check(CLI::Range(1, 100'000));
  experiment.options()
      .add_option("--turn-ms", settings.turn_ms, "The length of a turn")
      ->check(CLI::Range(1.0, 10'000.0));
  declare_pairs(experiment, settings.pairs);
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}
