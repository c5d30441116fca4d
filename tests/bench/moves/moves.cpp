// fairgv bench moves: the cost for a program of being moved to another device while it runs, as LoGV measured
// it (section IV-E): the product of two matrices (mmul) and the factors of one (lud), over the link that LoGV
// simulated and without one; and a program that holds 1 GiB and writes a part of it all the time.
//
// Downtime is measured in two ways, as the largest gap that the program itself sees: between two looks at the
// clock, a millisecond apart, which is LoGV's measure; and between the ends of two commands, which is more: a
// program whose session is held can do all but use its device. Beside each is the same of a program that is
// not moved.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/moves/moved_run.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/harness/executions.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::moves_experiment {
namespace {

using namespace harness;

struct Settings {
  int pairs = 3;
  double seconds = 15;  // of each program, about
  int held_mib = 1024;
  int shrink = 1;  // of the sizes
  std::string only;
};

/// LoGV's tables II and III.
struct Published {
  double downtime_ms;
  double overhead_ms;
  double duration_ms;
};

struct Kind {
  const char* name;
  const char* program;
  int size;
  Published logv;
};
/// 48 and 39 MiB of buffers.
constexpr Kind kKinds[] = {
    {"mmul", "matrixMul", 2048, {149.2, 962.9, 3051.3}},
    {"lud", "lud", 3200, {196.0, 1903.9, 2293.0}},
};
constexpr Way kWays[] = {{true, true}, {true, false}, {false, true}, {false, false}};

constexpr int kPieceMiB = 64;
constexpr double kPromisedMs = 50;     // of downtime, beside the copy of what is written
constexpr double kLinkedSeconds = 15;  // more, for 1 GiB to arrive

struct Gaps {
  std::vector<double> clock;
  std::vector<double> commands;
};

struct Cell {
  std::string name;
  std::string way;
  Gaps moved;
  Gaps still;
  std::vector<double> held, overhead, duration;
  double unmoved_s = 0;
};

/// The largest time from the end of a launch to the end of the next, in milliseconds.
double largest_gap(const std::vector<Execution>& launches) {
  std::uint64_t largest = 0;
  for (std::size_t i = 1; i < launches.size(); ++i)
    largest = std::max(largest, launches[i].end - launches[i - 1].end);
  return static_cast<double>(largest) / 1e6;
}

void print_run(const Cell& cell, const MovedRun& run, double seconds, double clock, double commands) {
  fmt::print("{}, {}: ", cell.name, cell.way);
  if (run.move) {
    fmt::print("moved in {:.0f} ms, held for {:.1f} ms, images {:.1f} MB; ", run.move->duration_ms,
               run.move->held_ms, run.move->bytes / 1e6);
  } else {
    fmt::print("not moved; ");
  }
  fmt::print("{:.3f} s, largest gaps: clock {:.1f} ms, commands {:.1f} ms\n", seconds, clock, commands);
  std::fflush(stdout);
}

/// `time`: of the program's work, in seconds. Returns it.
double book(Cell& cell, const MovedRun& run, double time, double commands) {
  const double clock = run.result["clock_gap_ms"];
  Gaps& gaps = run.move ? cell.moved : cell.still;
  gaps.clock.push_back(clock);
  gaps.commands.push_back(commands);
  if (run.move) {
    cell.held.push_back(run.move->held_ms);
    cell.duration.push_back(run.move->duration_ms);
  }
  print_run(cell, run, time, clock, commands);
  return time;
}

/// Measures programs of one kind, which are so many times as long as wanted: as long as they must be to be
/// moved before they end. A machine may be busy when a program is to move that was not when its length was
/// chosen.
template <class Measure>
Result<Cell> measure_moved(const Measure& measure) {
  for (int times = 1;; times *= 2) {
    FAIRGV_TRY(cell, measure(times));
    if (cell.value()) return std::move(*cell.value());
    fmt::print("A program ended before it had moved: again, with programs twice as long\n");
  }
}

class Workload {
 public:
  Workload(const Kind& kind, const Way& way, const Settings& settings, const Tenancy& tenancy)
      : kind_(kind), way_(way), settings_(settings), tenancy_(tenancy) {}

  Result<Cell> measure() {
    const Cell cell{kind_.name, way_.name(), {}, {}, {}, {}, {}, 0};
    Cell first = cell;
    FAIRGV_TRY(trial, once(first, false, 2));
    const auto rounds = std::max(3, static_cast<int>(std::ceil(settings_.seconds / (*trial.value() / 2))));
    return measure_moved([&](int times) { return measure_pairs(cell, rounds * times); });
  }

 private:
  /// Nothing if a program ends before it has moved.
  Result<std::optional<Cell>> measure_pairs(Cell cell, int rounds) const {
    std::vector<double> unmoved;
    for (int pair = 0; pair < settings_.pairs; ++pair) {
      const bool moves_first = pair % 2 == 1;
      FAIRGV_TRY(one, once(cell, moves_first, rounds));
      FAIRGV_TRY(other, once(cell, !moves_first, rounds));
      const std::optional<double> moved = moves_first ? one.value() : other.value();
      const std::optional<double> still = moves_first ? other.value() : one.value();
      if (!moved || !still) return std::optional<Cell>();
      cell.overhead.push_back(1e3 * (*moved - *still));
      unmoved.push_back(*still);
    }
    cell.unmoved_s = median(unmoved);
    return std::optional(std::move(cell));
  }

  /// The time of the program's work, in seconds; nothing if it is to move and ends before.
  Result<std::optional<double>> once(Cell& cell, bool moves, int rounds) const {
    const ScratchFile waits(".waits");
    FAIRGV_TRY(run, run_and_move(tenancy_, way_,
                                 {beside(std::string("workloads/") + kind_.program), "--size",
                                  std::to_string(kind_.size / settings_.shrink), "--repetitions",
                                  std::to_string(rounds), "--warmup", "1", "--verify", "last", "--sync",
                                  "every", "--progress-ms", "1", "--clock-ms", "1", "--waits", waits.path()},
                                 moves));
    if (moves && !run->move) return std::optional<double>();
    FAIRGV_TRY(launches, read_executions(waits.path()));
    return std::optional(book(cell, run.value(), run->result["seconds"], largest_gap(launches.value())));
  }

  const Kind& kind_;
  const Way& way_;
  const Settings& settings_;
  const Tenancy& tenancy_;
};

/// A program that holds much memory, so many times as long as wanted. Nothing if it ends before it has moved.
Result<std::optional<Cell>> measure_holder(const Settings& settings, const Way& way, const Tenancy& tenancy,
                                           int times) {
  Cell cell{
      fmt::format("{} MiB held", settings.held_mib / settings.shrink), way.name(), {}, {}, {}, {}, {}, 0};
  const double seconds = times * (settings.seconds + (way.linked ? kLinkedSeconds / settings.shrink : 0));
  const std::vector<std::string> program{
      beside("fairgv-probe-moves"), std::to_string(std::max(1, settings.held_mib / kPieceMiB)),
      std::to_string(kPieceMiB / settings.shrink), fmt::format("{}", seconds)};
  for (int pair = 0; pair < settings.pairs; ++pair) {
    for (const bool moves : {pair % 2 == 1, pair % 2 == 0}) {
      FAIRGV_TRY(run, run_and_move(tenancy, way, program, moves));
      if (moves && !run->move) return std::optional<Cell>();
      book(cell, run.value(), seconds, run->result["command_gap_ms"]);
    }
  }
  return std::optional(std::move(cell));
}

std::string three(const std::vector<double>& values) {
  const Spread spread = spread_of(values);
  return fmt::format("{:.0f} ({:.0f}-{:.0f})", spread.median, spread.lowest, spread.highest);
}

std::string row_of(const Cell& cell) {
  return fmt::format("{},{},{:.1f},{:.1f},{:.1f},{:.1f},{:.1f},{:.1f},{:.1f}", cell.name, csv_cell(cell.way),
                     median(cell.moved.clock), median(cell.still.clock), median(cell.moved.commands),
                     median(cell.still.commands), median(cell.held),
                     cell.overhead.empty() ? 0 : median(cell.overhead), median(cell.duration));
}

void print_table(const std::vector<Cell>& cells, const Settings& settings, double bandwidth) {
  constexpr const char* kRow = "{:<14}{:<22}{:>18}{:>14}{:>20}{:>20}{:>18}{:>20}{:>20}\n";
  fmt::print("\nMedians of {} (lowest-highest), in ms\n", settings.pairs);
  fmt::print(kRow, "", "", "clock", "not moved", "commands", "not moved", "held", "overhead", "duration");
  for (const Cell& cell : cells) {
    fmt::print(kRow, cell.name, cell.way, three(cell.moved.clock),
               fmt::format("{:.0f}", median(cell.still.clock)), three(cell.moved.commands),
               three(cell.still.commands), three(cell.held),
               cell.overhead.empty() ? "" : three(cell.overhead), three(cell.duration));
  }
  for (const Kind& kind : kKinds)
    fmt::print(kRow, kind.name, "LoGV", kind.logv.downtime_ms, "", "", "", "", kind.logv.overhead_ms,
               kind.logv.duration_ms);
  const double written = kPieceMiB * 1024.0 * 1024.0 / settings.shrink;
  fmt::print(
      "Wanted of the program that holds memory and writes {} MiB of it, copied: downtime of at most "
      "{:.0f} ms ({:.0f} MB/s by way of a memory file), over the link {:.0f} ms\n",
      kPieceMiB / settings.shrink, kPromisedMs + written / bandwidth, bandwidth / 1e3,
      kPromisedMs + written / kLinkBytesPerMs);
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(bandwidth, copy_bandwidth(static_cast<std::size_t>(kPieceMiB) << 20));
  std::vector<Cell> cells;
  for (const Way& way : kWays) {
    FAIRGV_TRY(tenancy, start_pair_of_devices(placement, way.linked));
    for (const Kind& kind : kKinds) {
      if (!settings.only.empty() && settings.only != kind.name) continue;
      FAIRGV_TRY(cell, Workload(kind, way, settings, tenancy.value()).measure());
      cells.push_back(std::move(cell).value());
    }
    if (!settings.only.empty() && settings.only != "held") continue;
    FAIRGV_TRY(cell, measure_moved([&, &tenant = tenancy.value()](int times) {
                 return measure_holder(settings, way, tenant, times);
               }));
    cells.push_back(std::move(cell).value());
  }
  print_table(cells, settings, bandwidth.value());
  Findings found{
      "program,way,clock_ms,clock_unmoved_ms,commands_ms,commands_unmoved_ms,held_ms,overhead_ms,duration_ms",
      {}};
  for (const Cell& cell : cells) found.rows.push_back(row_of(cell));
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("moves", "What programs notice of being moved to another device");
  Settings settings;
  experiment
      .setting("--pairs", settings.pairs, 1,
               "Programs of each kind that are moved, each beside one that is not")
      ->check(CLI::Range(1, 1'000));
  experiment.setting("--seconds", settings.seconds, 6, "The length of each program, about")
      ->check(CLI::Range(1.0, 600.0));
  experiment.setting("--held", settings.held_mib, 256, "Memory of the program that holds much, in MiB")
      ->check(CLI::Range(kPieceMiB, 65'536));
  experiment.setting("--shrink", settings.shrink, 4, "Divides the programs' sizes")
      ->check(CLI::IsMember({1, 2, 4}));
  experiment.options()
      .add_option("--only", settings.only, "One kind of program")
      ->check(CLI::IsMember({"mmul", "lud", "held"}));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"moves", run};

}  // namespace
}  // namespace fairgv::bench::moves_experiment
