// fairgv bench accounting: FairGV's charges for kernels beside the driver's own event timestamps of the same
// kernels (FairGV paper, table 2): on the driver alone, as the only tenant, and while another competes.
//
// A tenant is charged the time for which it kept the device. The sum of its kernels' own durations leaves out
// the driver's gaps between launches that lie back to back, which no other tenant could use; the span has
// them. The cost of accounting is in the gaps: how much longer a tenant that competes keeps the device for
// the same time in kernels than one that is alone, whose commands are neither measured singly nor waited for.
// All conditions take turns.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "tests/bench/support/api.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/mean_kernel.hpp"
#include "tests/bench/support/load/on_request.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::accounting_experiment {
namespace {

using namespace harness;

constexpr const char* kTenant = "measured";

struct Settings {
  // Of each program's runs. A program's first kernel takes some 0.3 ms longer than the others, which would
  // be a per cent of a run of 30 ms.
  unsigned milliseconds = 1'000;
  unsigned runs = 5;
  double gap_us = 50;
  Api api = Api::kOpenCl;
  std::vector<int> kernel_us{21, 100, 400, 1'605};
};

/// The figures of table 2 of the paper for a kernel, in microseconds.
struct Published {
  int profiler = 0;
  int fairgv = 0;
};

struct Program {
  std::string name;
  KernelSource source;
  Published published{};
  unsigned kernels = 0;  // of each run
};

/// For a kernel's length, which says how many of them make a run.
constexpr unsigned kFewKernels = 48;

/// In CUDA no buffer begins as a copy of the program's memory: each is filled by a command.
constexpr unsigned kCopiesInCuda = 4;

/// Of the other tenant's kernels.
constexpr int kNeighbourUs = 200;

Result<std::vector<Program>> programs_of(const Settings& settings, const Placement& placement) {
  const auto workload = [&settings](const std::string& name, unsigned kernels_per_round,
                                    Published published = {}) {
    const unsigned copies = settings.api == Api::kCuda ? kCopiesInCuda : 0;
    return Program{name,
                   {{beside("workloads/" + workload_of(settings.api, name))}, kernels_per_round, copies},
                   published};
  };
  std::vector<Program> programs{workload("matrixMul", 1, {207, 214}), workload("BlackScholes", 1, {377, 381}),
                                workload("scan", 3, {171, 176}),
                                workload("convolutionSeparable", 2, {391, 397}), workload("hotspot", 8)};
  for (const int length : settings.kernel_us) {
    FAIRGV_TRY(loop, calibrate_loop(length, "0.3", placement, settings.api));
    Program program = workload("computeLoop", 1);
    program.name += fmt::format(" {} us", length);
    program.source.command.insert(program.source.command.end(),
                                  {"--iterations", std::to_string(loop->iterations)});
    programs.push_back(std::move(program));
  }
  return programs;
}

/// A condition under which a program's kernels are measured, and the runs so far.
struct Condition {
  std::string name;
  std::function<Result<MeanKernel>(const Program&)> measure;
};

/// The table as it grows.
class Table {
 public:
  Table(const Settings& settings, std::size_t steps) : settings_(settings), progress_(steps) {
    fmt::print("{:<21}{:<15}{:>9}{:>9}{:>9}{:>10}{:>10}{:>20}{:>9}{:>9}   {}\n", "mean kernel, us", "",
               "charged", "events", "span", "over ev.", "over sp.", "lowest-highest", "sampled", "cost",
               "paper's profiler/FairGV");
  }

  /// One program under all conditions, which take turns: the machine's other work widens the gaps between
  /// kernels, by a factor of two and more, and so falls on all conditions.
  Result<void> measure(const Program& program, const std::vector<Condition>& conditions) {
    std::vector<std::vector<MeanKernel>> found(conditions.size());
    for (unsigned run = 0; run < settings_.runs; ++run) {
      for (std::size_t turn = 0; turn < conditions.size(); ++turn) {
        // The condition that goes first changes, so that a drift of the machine cancels.
        const std::size_t i = run % 2 == 0 ? turn : conditions.size() - 1 - turn;
        progress_.step(fmt::format("{}, {}", program.name, conditions[i].name));
        FAIRGV_TRY(means, conditions[i].measure(program));
        found[i].push_back(means.value());
      }
    }
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      // Under the first condition there is only itself to compare with.
      add(conditions[i].name, program, found[i], median_cost(found[i], found[i == 0 ? 0 : i - 1]));
    }
    return {};
  }

  Findings take() { return std::move(found_); }

 private:
  /// Of runs right after one another.
  static double median_cost(const std::vector<MeanKernel>& here, const std::vector<MeanKernel>& before) {
    std::vector<double> costs;
    for (std::size_t run = 0; run < here.size(); ++run) costs.push_back(here[run].beyond(before[run]));
    return median(costs);
  }

  /// The run in the middle counts.
  void add(const std::string& condition, const Program& program, std::vector<MeanKernel> found, double cost) {
    std::sort(found.begin(), found.end(), [](const MeanKernel& one, const MeanKernel& other) {
      return one.over_span() < other.over_span();
    });
    const MeanKernel& middle = found[found.size() / 2];
    const double lowest = found.front().over_span();
    const double highest = found.back().over_span();
    const auto& [profiler, fairgv] = program.published;
    std::string paper;
    if (profiler > 0) {
      paper = fmt::format("{}/{}, {:+.1f} %", profiler, fairgv, 100.0 * fairgv / profiler - 100);
    }
    progress_.print_row(fmt::format(
        "{:<21}{:<15}{:>9.1f}{:>9.1f}{:>9.1f}{:>+8.2f} %{:>+8.2f} %{:>20}{:>9.2f}{:>+7.2f} %   {}",
        program.name, condition, middle.charged, middle.events, middle.span, middle.over_events(),
        middle.over_span(), fmt::format("{:+.2f} to {:+.2f}", lowest, highest), middle.sampled, cost, paper));
    found_.rows.push_back(fmt::format(
        "{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{}", program.name, condition,
        middle.charged, middle.events, middle.span, middle.over_events(), middle.over_span(), lowest, highest,
        middle.sampled, cost, profiler > 0 ? fmt::format("{},{}", profiler, fairgv) : ","));
  }

  const Settings& settings_;
  ProgressLine progress_;
  Findings found_{
      "program,condition,charged_us,events_us,span_us,over_events_percent,over_span_percent,"
      "over_span_lowest,over_span_highest,sampled_per_1000,cost_percent,paper_profiler_us,paper_fairgv_us",
      {}};
};

void explain(const Settings& settings) {
  fmt::print(
      "charged  device time charged to the tenant, over its launches; on the driver alone, wall time\n"
      "events   mean of END - START, as the driver stamps them\n"
      "span     from the first START to the last END without the gaps of {} us or more, over the launches\n"
      "sampled  kernels in 1,000 that were measured one by one\n"
      "cost     what was charged for a second of events, over that under the condition before: of being a\n"
      "         tenant, and then of accounting while another competes; the median of runs in turns\n"
      "Of {} runs of about {} ms of kernels, the middle one by what is charged over the span.\n\n",
      settings.gap_us, settings.runs, settings.milliseconds);
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(programs, programs_of(settings, placement));
  FAIRGV_TRY(loop, calibrate_loop(kNeighbourUs, "0.3", placement, settings.api));
  FAIRGV_TRY(tenancy, Tenancy::start(placement));
  // The daemon shows tenants that have sessions: this program keeps the account open between the others.
  FAIRGV_TRY(keeper, start_idle(tenancy.value(), {kTenant}));
  // Checked once. And a driver may compile at the first launch, which takes longer than thousands of kernels
  // and is charged; PoCL keeps the result for the runs that count.
  const auto gap = std::chrono::nanoseconds(std::llround(1e3 * settings.gap_us));
  for (Program& program : programs.value()) {
    auto command = program.source.command;
    command.insert(command.end(), {"--repetitions", "1"});
    FAIRGV_CHECK(run_measured(tenancy->tenant(kTenant, 1, command)));
    FAIRGV_TRY(few, mean_bare(placement, program.source, kFewKernels, gap));
    program.kernels =
        std::max(kFewKernels, static_cast<unsigned>(1e3 * settings.milliseconds / few.value().events));
  }
  OnRequest neighbour(".neighbour");
  FAIRGV_TRY(started,
             neighbour.start(tenancy->tenant("neighbour", 1, saturating(loop.value(), settings.api))));
  const auto as_tenant = [&](const Program& program) {
    return mean_charged(tenancy.value(), kTenant, program.source, program.kernels, gap);
  };
  const std::vector<Condition> conditions{
      {"driver alone",
       [&](const Program& program) { return mean_bare(placement, program.source, program.kernels, gap); }},
      {"only tenant", as_tenant},
      {"beside another", [&](const Program& program) -> Result<MeanKernel> {
         FAIRGV_CHECK(neighbour.begin());
         auto means = as_tenant(program);
         FAIRGV_CHECK(neighbour.halt());
         return means;
       }}};
  explain(settings);
  Table table(settings, conditions.size() * programs->size() * settings.runs);
  for (const Program& program : programs.value()) {
    FAIRGV_CHECK(table.measure(program, conditions));
  }
  FAIRGV_CHECK(neighbour.end());
  return table.take();
}

int run(int argc, char** argv) {
  Experiment experiment("accounting", "The device time FairGV charges beside the driver's event timestamps");
  Settings settings;
  experiment.setting("--milliseconds", settings.milliseconds, 15, "Kernel time of each program's runs")
      ->check(CLI::Range(1, 100'000));
  experiment.setting("--runs", settings.runs, 1, "Runs of each program, of which the middle one counts")
      ->check(CLI::Range(1, 99));
  experiment
      .setting("--kernel-us", settings.kernel_us, {21, 1'605}, "Kernel lengths of the compute loop, in us")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000));
  declare_api(experiment.options(), settings.api, {.direct = true});
  experiment.options()
      .add_option("--gap-us", settings.gap_us, "Gaps between kernels that are shorter belong to the span")
      ->check(CLI::Range(0.0, 1e6));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"accounting", run};

}  // namespace
}  // namespace fairgv::bench::accounting_experiment
