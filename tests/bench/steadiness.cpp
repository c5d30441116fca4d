// fairgv bench steadiness: whether this machine is steady enough to measure on. A loop of additions keeps the
// device's first core busy, by itself and beside the same loop on another core. On a virtual machine a core
// is a hardware thread that shares a core with any neighbour its host puts there. Then it is slower, for
// anything from milliseconds to seconds, and the time of the same additions shows that.
//
// A neighbour shows in both columns. Cores of this machine that are threads of one core show in the second
// only.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/child.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::steadiness_experiment {
namespace {

using namespace harness;

// Between the effect of a clock that changes its frequency and the least effect of another thread of the
// core.
constexpr double kSlow = 1.12;
constexpr double kSliceMs = 5;  // that each line of the probe is of

struct Settings {
  double seconds = 5;  // of each period
  int periods = 6;     // alone, and beside
};

/// The time of the same additions in one stretch of 5 ms.
struct Slice {
  double ends = 0;         // seconds of CLOCK_MONOTONIC
  double nanoseconds = 0;  // the shortest
};
using Period = std::vector<Slice>;

/// On the first core, while the same runs on the last one or not.
Result<Period> run_period(double seconds, bool beside_another) {
  const auto probe_on = [&](unsigned core) {
    return CommandLine{{"taskset", "--cpu-list", std::to_string(core), beside("fairgv-probe-core"),
                        fmt::format("{}", seconds)},
                       {}};
  };
  std::optional<Child> other;
  if (beside_another) {
    FAIRGV_TRY(started, Child::start(probe_on(std::thread::hardware_concurrency() - 1)));
    other.emplace(std::move(started).value());
  }
  FAIRGV_TRY(ran, run(probe_on(0)));
  if (ran->status != 0) return Error{fmt::format("fairgv-probe-core failed with status {}", ran->status)};
  if (other && finish(std::move(*other)).status != 0) return Error{"fairgv-probe-core failed beside another"};
  Period period;
  for (const std::string& line : ran->lines) {
    Slice slice;
    if (std::istringstream(line) >> slice.ends >> slice.nanoseconds) period.push_back(slice);
  }
  if (period.empty()) return Error{"fairgv-probe-core printed no times"};
  return period;
}

/// The findings of all periods of a kind.
struct Steadiness {
  double slow = 0;        // part of the slices
  double times = 1;       // as long as the shortest of both kinds, the median of slow slices
  double stretch_ms = 0;  // for how long without a break: median
  double longest_ms = 0;
};

Steadiness steadiness_of(const std::vector<Period>& periods, double shortest) {
  Steadiness result;
  std::vector<double> slow;
  std::vector<double> stretches;
  std::size_t slices = 0;
  for (const Period& period : periods) {
    slices += period.size();
    double stretch = 0;
    for (const Slice& slice : period) {
      const double times = slice.nanoseconds / shortest;
      if (times > kSlow) {
        slow.push_back(times);
        stretch += kSliceMs;
      } else if (stretch > 0) {
        stretches.push_back(std::exchange(stretch, 0));
      }
    }
    if (stretch > 0) stretches.push_back(stretch);
  }
  if (slow.empty()) return result;
  return {static_cast<double>(slow.size()) / static_cast<double>(slices), median(slow), median(stretches),
          largest(stretches)};
}

/// How slow each slice was, over the seconds of all periods of a kind one after the other.
Figure figure_of(const std::array<std::vector<Period>, 2>& kinds, double shortest) {
  std::string script =
      "set yrange [0.9:2.3]; set grid; set xlabel 'seconds'; set ylabel 'times as long'; set key top right\n";
  std::string plots;
  for (const char* title : {"by itself", "beside a busy core"}) {
    const auto& periods = kinds[plots.empty() ? 0 : 1];
    const std::string block = fmt::format("$slices{}", script.size());
    script += block + " << END\n";
    double seconds = 0;
    for (const Period& period : periods) {
      for (const Slice& slice : period) {
        script += fmt::format("{:.3f} {:.3f}\n", seconds + slice.ends - period.front().ends,
                              slice.nanoseconds / shortest);
      }
      seconds += period.back().ends - period.front().ends;
    }
    script += "END\n";
    plots += fmt::format("{}{} with dots lw 2 title '{}'", plots.empty() ? "plot " : ", ", block, title);
  }
  return {860, 360, script + plots + "\n"};
}

Result<Findings> run_benchmark(const Settings& settings) {
  if (std::thread::hardware_concurrency() < 2)
    return Error{"this machine has one core; steadiness takes two"};
  fmt::print(
      "The same additions again and again on core 0: for how much of the time they take more than\n"
      "{:.2f} times as long as at best, how many times then, and for how long at a stretch\n\n"
      "{:<22}{:>10}{:>10}{:>14}{:>14}\n",
      kSlow, "", "slow", "times", "stretch, ms", "longest, ms");
  std::array<std::vector<Period>, 2> kinds;  // alone, beside another
  ProgressLine progress(static_cast<std::size_t>(2 * settings.periods));
  for (int i = 0; i < settings.periods; ++i) {
    for (const bool beside_another : {false, true}) {
      progress.step(beside_another ? "beside a busy core" : "by itself");
      FAIRGV_TRY(period, run_period(settings.seconds, beside_another));
      kinds[beside_another ? 1 : 0].push_back(std::move(period).value());
    }
  }
  double shortest = kinds[0][0][0].nanoseconds;
  for (const auto& periods : kinds) {
    for (const Period& period : periods) {
      for (const Slice& slice : period) shortest = std::min(shortest, slice.nanoseconds);
    }
  }
  Findings found{"core,slow,times,stretch_ms,longest_ms", {}, figure_of(kinds, shortest)};
  for (const bool beside_another : {false, true}) {
    const Steadiness each = steadiness_of(kinds[beside_another ? 1 : 0], shortest);
    progress.print_row(fmt::format("{:<22}{:>8.1f} %{:>10.2f}{:>14.0f}{:>14.0f}",
                                   beside_another ? "beside a busy core" : "by itself", 100 * each.slow,
                                   each.times, each.stretch_ms, each.longest_ms));
    found.rows.push_back(fmt::format("{},{:.4f},{:.4f},{:.1f},{:.1f}", beside_another ? "beside" : "alone",
                                     each.slow, each.times, each.stretch_ms, each.longest_ms));
  }
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("steadiness", "Whether this machine is steady enough to measure on");
  Settings settings;
  experiment.setting("--seconds", settings.seconds, 0.3, "Length of each period")
      ->check(CLI::Range(0.1, 600.0));
  experiment.setting("--periods", settings.periods, 1, "Periods by itself, and as many beside a busy core")
      ->check(CLI::Range(1, 1'000));
  experiment.declare_figure();
  return experiment.run(argc, argv, [&](const Placement&) { return run_benchmark(settings); });
}

const Registration registration{"steadiness", run};

}  // namespace
}  // namespace fairgv::bench::steadiness_experiment
