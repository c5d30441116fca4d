// fairgv bench long-kernel: a tenant with one kernel that lasts a minute alone, beside a tenant of the same
// weight that launches short kernels and waits for each (FairGV, section 3.3.2: very long running kernels).
// Cut into sub-launches, each should get half of the device, and the short kernels should wait for a slice or
// so. The same with FAIRGV_SLICE=off shows the effect of no slicing.
//
// The long kernel has so many work-groups that the smallest sub-launches are a third of a slice: with fewer
// and longer ones the floor of the planner would decide how long the others wait.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "slicing/planner.hpp"
#include "tests/bench/support/api.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/rivals.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/bench/support/sliced.hpp"
#include "tests/bench/support/text/bars.hpp"
#include "tests/harness/executions.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench::long_kernel_experiment {
namespace {

using namespace harness;

constexpr int kShortKernelUs = 100;
constexpr double kFewestGroups = 100'000;
constexpr double kMostGroups = 1U << 26U;  // of a compute loop
constexpr double kRoundTo = 64;            // a compute loop's size is a multiple of this
constexpr double kUntilAsked = 86'400;     // seconds
// The uncut kernel holds the device far longer than a daemon usually lets it.
constexpr const char* kNoWatchdog = "hold_limit_s = 0";

struct Settings {
  double seconds = 60;
  Api api = Api::kOpenCl;
};

struct Programs {
  Program long_kernel;
  Program short_kernels;
};

/// The programs' speeds as the only tenant: on the driver alone a program that waits for each kernel takes
/// longer to come back with the next than it does with spinning threads.
struct Alone {
  double kernel_s = 0;       // of the long one's kernel
  double kernels_per_s = 0;  // of the short one
};

/// The programs' speeds side by side.
struct Together {
  double kernel_s = 0;
  double short_kernels = 0;  // of the other, that ended while the long one's ran
  std::vector<double> waits_ms{};
};

struct Cell {
  std::string slicing;
  Alone alone;
  Together together;

  // Throughputs over those alone.
  double long_share() const { return alone.kernel_s / together.kernel_s; }
  double short_share() const { return together.short_kernels / together.kernel_s / alone.kernels_per_s; }
  double min_max_ratio() const {
    return std::min(long_share(), short_share()) / std::max(long_share(), short_share());
  }
  double wait_ms(double percent) const { return percentile(together.waits_ms, percent); }
};

double whole_groups(double groups) {
  return kRoundTo * std::ceil(groups / kRoundTo);
}

/// A compute loop of work-groups of one item, so that all of them take little memory. It is calibrated with a
/// small part of them.
Result<Program> long_kernel(Api api, double seconds, double slice_s, const Placement& placement) {
  const double floor_s = slice_s / 3;
  const double groups =
      whole_groups(std::clamp(seconds / floor_s * slicing::kDefaultFloor, kFewestGroups, kMostGroups));
  const double part = whole_groups(groups / 1'000);
  const Program loop{beside("workloads/" + workload_of(api, "computeLoop")), "--group", "1"};
  Program probe = loop;
  probe.insert(probe.end(), {"--size", fmt::format("{:.0f}", part), "--kernel-us",
                             fmt::format("{:.3f}", 1e6 * seconds * part / groups), "--repetitions", "1"});
  FAIRGV_TRY(calibrated, run_measured(bare(probe, placement)));
  Program program = loop;
  // No other launch comes before this one: the other tenant is there already.
  program.insert(program.end(), {"--size", fmt::format("{:.0f}", groups), "--iterations",
                                 std::to_string(calibrated.value()["iterations"].get<std::uint64_t>()),
                                 "--repetitions", "1", "--warmup", "0", "--verify", "last"});
  return program;
}

Result<Programs> programs_for(const Settings& settings, double slice_s, const Placement& placement) {
  FAIRGV_TRY(loop, calibrate_loop(kShortKernelUs, "0.3", placement, settings.api));
  FAIRGV_TRY(lasting, long_kernel(settings.api, settings.seconds, slice_s, placement));
  return Programs{std::move(lasting).value(),
                  {beside("workloads/" + workload_of(settings.api, "computeLoop")), "--iterations",
                   std::to_string(loop->iterations), "--sync", "every"}};
}

Result<double> short_kernels_per_s(const Programs& programs, const Settings& settings,
                                   const Tenancy& tenancy) {
  Program brief = programs.short_kernels;
  brief.insert(brief.end(),
               {"--seconds", fmt::format("{:.3f}", std::clamp(settings.seconds / 6, 0.3, 10.0))});
  FAIRGV_TRY(result, run_measured(tenancy.tenant("short", 1, brief)));
  return result.value()["kernels"].get<double>() / result.value()["seconds"].get<double>();
}

/// The short one before and after the long one: together they last for minutes, and a machine's speed changes
/// meanwhile.
Result<Alone> run_alone(const Programs& programs, const Settings& settings, const Tenancy& tenancy) {
  FAIRGV_TRY(before, short_kernels_per_s(programs, settings, tenancy));
  FAIRGV_TRY(lasting, run_measured(tenancy.tenant("long", 1, programs.long_kernel)));
  FAIRGV_TRY(after, short_kernels_per_s(programs, settings, tenancy));
  return Alone{lasting.value()["seconds"], (before.value() + after.value()) / 2};
}

/// Of two measurements, before and after: a drift of the machine cancels.
Alone mean(const Alone& before, const Alone& after) {
  return {(before.kernel_s + after.kernel_s) / 2, (before.kernels_per_s + after.kernels_per_s) / 2};
}

/// The launches of the short one that were under way while the long one's kernel was.
void add_waits(const std::vector<Execution>& launches, double from, double until, Together& into) {
  for (const Execution& launch : launches) {
    const double start = static_cast<double>(launch.start) / 1e9;
    const double end = static_cast<double>(launch.end) / 1e9;
    if (end <= from || start >= until) continue;
    if (end <= until) ++into.short_kernels;
    into.waits_ms.push_back(1e3 * (end - start));
  }
}

Result<Together> run_together(const Tenancy& tenancy, const Programs& programs, const Slicing& slicing) {
  const ScratchFile waits(".waits");
  Program lasting_until_asked = programs.short_kernels;
  lasting_until_asked.insert(lasting_until_asked.end(), {"--seconds", fmt::format("{}", kUntilAsked),
                                                         "--progress-ms", "500", "--waits", waits.path()});
  Company short_one;
  FAIRGV_CHECK(short_one.join(tenancy, "short", lasting_until_asked));
  FAIRGV_CHECK(short_one.wait_for_output());
  FAIRGV_TRY(result, run_measured(sliced(tenancy.tenant("long", 1, programs.long_kernel), slicing)));
  FAIRGV_CHECK(short_one.look());
  short_one.ask_to_end();
  for (const Finished& finished : std::move(short_one).finish()) {
    FAIRGV_CHECK(result_of({programs.short_kernels, {}}, finished));
  }
  FAIRGV_TRY(launches, read_executions(waits.path()));
  Together found{result.value()["seconds"]};
  const double from = result.value()["started_at"];
  add_waits(launches.value(), from, from + found.kernel_s, found);
  if (found.waits_ms.empty()) return Error{"no short kernel was under way while the long one ran"};
  return found;
}

std::string row_of(const Cell& cell, double slice_ms) {
  const auto in_slices = [&](double wait_ms) {
    return fmt::format("{:.2f} ({:.1f})", wait_ms, wait_ms / slice_ms);
  };
  return fmt::format("{:<16}{:>9.2f}{:>12.2f}{:>8.3f}{:>8.3f}{:>8.3f}{:>10}{:>10.3f}{:>22}{:>22}",
                     cell.slicing, cell.alone.kernel_s, cell.together.kernel_s, cell.long_share(),
                     cell.short_share(), cell.min_max_ratio(), cell.together.waits_ms.size(),
                     cell.wait_ms(50), in_slices(cell.wait_ms(99)), in_slices(cell.wait_ms(100)));
}

Findings table_of(const std::vector<Cell>& cells, double slice_ms) {
  Findings found{
      "slicing,alone_s,together_s,long,short,min_max_ratio,waits,p50_ms,p99_ms,longest_ms,slice_ms", {}};
  for (const Cell& cell : cells) {
    found.rows.push_back(fmt::format(
        "{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{},{:.3f},{:.3f},{:.3f},{}", cell.slicing, cell.alone.kernel_s,
        cell.together.kernel_s, cell.long_share(), cell.short_share(), cell.min_max_ratio(),
        cell.together.waits_ms.size(), cell.wait_ms(50), cell.wait_ms(99), cell.wait_ms(100), slice_ms));
  }
  return found;
}

Figure figure_of(const std::vector<Cell>& cells) {
  std::vector<std::string> ways;
  std::vector<Bar> bars;
  for (const Cell& cell : cells) {
    const std::string way = "slicing " + cell.slicing;
    ways.push_back(way);
    const auto add = [&](const char* program, double share) {
      bars.push_back({way, program, {share, share, share}});
    };
    add("long", cell.long_share());
    add("short", cell.short_share());
  }
  return bars_by_policy(ways, bars, "set yrange [0:1.1]; set ylabel 'throughput over that alone'",
                        "0.5 title 'by weight'");
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(tenancy, Tenancy::start(placement, {}, kNoWatchdog));
  FAIRGV_TRY(report, look_at(tenancy.value()));
  const double slice_ms = report.value()["daemon"]["slice_ms"];
  FAIRGV_TRY(programs, programs_for(settings, slice_ms / 1e3, placement));
  fmt::print(
      "A kernel of {:g} s beside kernels of {} us that are each waited for, equal weights\n"
      "long, short: throughput over that as the only tenant. Waits: from a launch of the short one to its\n"
      "end, while the long kernel runs; a slice is {:g} ms\n\n"
      "{:<16}{:>9}{:>12}{:>8}{:>8}{:>8}{:>10}{:>10}{:>22}{:>22}\n",
      settings.seconds, kShortKernelUs, slice_ms, "slicing", "alone, s", "together, s", "long", "short",
      "MMR", "waits", "p50, ms", "p99, ms (slices)", "longest, ms (slices)");
  std::fflush(stdout);
  const std::vector<Slicing> ways{std::nullopt, kNeverSliced};
  ProgressLine progress(1 + 2 * ways.size());
  const auto measure_alone = [&] {
    progress.step("each program alone");
    return run_alone(programs.value(), settings, tenancy.value());
  };
  FAIRGV_TRY(before, measure_alone());
  std::vector<Cell> cells;
  for (const Slicing& slicing : ways) {
    const std::string way = slicing.value_or("as configured");
    progress.step("side by side, slicing " + way);
    FAIRGV_TRY(together, run_together(tenancy.value(), programs.value(), slicing));
    FAIRGV_TRY(after, measure_alone());
    cells.push_back({way, mean(before.value(), after.value()), together.value()});
    progress.print_row(row_of(cells.back(), slice_ms));
    before = std::move(after);
  }
  Findings found = table_of(cells, slice_ms);
  found.figure = figure_of(cells);
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("long-kernel",
                        "A kernel that lasts a minute beside short ones of another tenant, sliced and not");
  Settings settings;
  experiment.setting("--seconds", settings.seconds, 1, "How long the kernel lasts alone")
      ->check(CLI::Range(0.2, 600.0));
  declare_api(experiment.options(), settings.api);
  experiment.declare_figure();
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"long-kernel", run};

}  // namespace
}  // namespace fairgv::bench::long_kernel_experiment
