// fairgv bench trace: the cost for a program while `fairgv trace` records it. One program that keeps the
// device busy, beside an idle tenant; short windows with and without a trace take turns, and the daemon tells
// how many launches ended in each. The same program with the same memory is on both sides of each ratio.
// Beside it a control: windows without a trace on both sides show the machine's own noise.
#include <fmt/core.h>

#include <csignal>
#include <thread>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/bench/support/text/progress_line.hpp"

namespace fairgv::bench::trace_experiment {
namespace {

using namespace harness;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::vector<int> kernel_us{21, 285};
  int pairs = 40;
  double window_s = 0.5;
};

/// Launches per second of the measured program, in a window that begins now.
Result<double> throughput(const Tenancy& tenancy, double seconds) {
  const auto look = [&]() -> Result<std::pair<double, Clock::time_point>> {
    FAIRGV_TRY(report, look_at(tenancy));
    FAIRGV_TRY(tenant, tenant_in(report.value(), "traced"));
    return std::pair(tenant.value()["launches"].get<double>(), Clock::now());
  };
  FAIRGV_TRY(before, look());
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  FAIRGV_TRY(after, look());
  return (after->first - before->first) /
         std::chrono::duration<double>(after->second - before->second).count();
}

/// The same while it is traced. The trace has begun when `fairgv trace` says so.
Result<double> traced_throughput(const Tenancy& tenancy, const Settings& settings) {
  const ScratchFile file(".trace.json");
  FAIRGV_TRY(trace, Child::start({{beside("fairgv"), "trace", "-o", file.path(), "--seconds", "600",
                                   "--socket", tenancy.socket()},
                                  {}}));
  const auto give_up = Clock::now() + std::chrono::seconds(10);
  while (trace->read_lines().empty()) {
    if (Clock::now() > give_up) return Error{"fairgv trace has recorded nothing for ten seconds"};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  auto result = throughput(tenancy, settings.window_s);
  ::kill(trace->pid(), SIGINT);
  if (trace->wait() != 0) return Error{"fairgv trace failed"};
  return result;
}

struct Cell {
  int asked_us = 0;
  double launches = 0;  // per second, without a trace
  Estimate traced{};    // throughput with over without
  Estimate control{};   // without over without
};

Result<Cell> measure(int kernel_us, const Tenancy& tenancy, const Settings& settings,
                     const Placement& placement, ProgressLine& progress) {
  FAIRGV_TRY(loop, calibrate_loop(kernel_us, "1", placement));
  Company company;
  std::vector<std::string> program = endless_program(loop->iterations);
  program.insert(program.end(), {"--batch", std::to_string(loop->batch)});
  FAIRGV_CHECK(company.join(tenancy, "traced", program));
  FAIRGV_CHECK(company.wait_for_output());
  Cell cell{kernel_us};
  std::vector<double> traced, control, plain;
  for (int pair = 0; pair < settings.pairs; ++pair) {
    progress.step(fmt::format("kernels of {} us", kernel_us));
    // Without, with, without: a drift of the machine cancels.
    const auto before = throughput(tenancy, settings.window_s);
    const auto with = traced_throughput(tenancy, settings);
    const auto after = throughput(tenancy, settings.window_s);
    if (!before) return before.error();
    if (!with) return with.error();
    if (!after) return after.error();
    FAIRGV_CHECK(company.look());
    const double without = (before.value() + after.value()) / 2;
    traced.push_back(with.value() / without);
    control.push_back(after.value() / before.value());
    plain.push_back(without);
  }
  cell.launches = median(plain);
  cell.traced = estimate_of(traced);
  cell.control = estimate_of(control);
  return cell;
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(tenancy, Tenancy::start(placement));
  FAIRGV_TRY(idle, start_idle(tenancy.value(), {"idle"}));
  fmt::print("Launches of one program while it is traced over those while it is not, {} pairs of {} s\n\n",
             settings.pairs, settings.window_s);
  fmt::print("{:>10}{:>14}{:>22}{:>22}\n", "kernel us", "launches/s", "traced", "control");
  std::fflush(stdout);
  ProgressLine progress(settings.kernel_us.size() * static_cast<std::size_t>(settings.pairs));
  Findings found{"kernel_us,launches_per_s,traced,within,control,control_within", {}};
  for (const int kernel_us : settings.kernel_us) {
    FAIRGV_TRY(cell, measure(kernel_us, tenancy.value(), settings, placement, progress));
    progress.print_row(fmt::format("{:>10}{:>14.0f}{:>22}{:>22}", kernel_us, cell->launches,
                                   shown(cell->traced), shown(cell->control)));
    found.rows.push_back(fmt::format("{},{:.1f},{:.5f},{:.5f},{:.5f},{:.5f}", kernel_us, cell->launches,
                                     cell->traced.mean, cell->traced.within, cell->control.mean,
                                     cell->control.within));
  }
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("trace", "What a program pays while fairgv trace records it");
  Settings settings;
  experiment.setting("--kernel-us", settings.kernel_us, {285}, "Kernel lengths, in microseconds")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000));
  experiment.setting("--pairs", settings.pairs, 2, "Windows with a trace, each between two without")
      ->check(CLI::Range(1, 10'000));
  experiment.options()
      .add_option("--window", settings.window_s, "The length of a window, in seconds")
      ->check(CLI::Range(0.05, 600.0));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"trace", run};

}  // namespace
}  // namespace fairgv::bench::trace_experiment
