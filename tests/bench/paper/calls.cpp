// fairgv bench calls: what kind of program each workload is (FairGV, table 3): how long its kernels are, how
// many calls it makes in 10 ms, with and without a wait, and whether FairGV takes it for CPU-GPU interactive,
// which is more than ten waits in 10 ms (sched/interactivity.hpp). Each program runs as the only tenant, and
// `fairgv trace` records it for some seconds.
//
// An asynchronous call is a command: a launch, or a transfer. A synchronous call is one for which the program
// waited, by the trace.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/calibrated_loop.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::calls_experiment {
namespace {

using namespace harness;

/// A line of the paper's table 3.
struct Published {
  const char* program;
  double kernel_us;
  double asynchronous;  // calls in 10 ms
  double synchronous;
  bool interactive;
};
constexpr std::array<Published, 12> kPublished{{
    {"cfd", 198, 49.761, 87.130, true},
    {"heartwall", 10'201, 0.794, 11.233, true},
    {"hotspot", 133, 59.520, 0.014, false},
    {"lavaMD", 1'908'357, 0.002, 0.061, false},
    {"nw", 11'032, 2.666, 0.076, false},
    {"pathfinder", 592, 0.027, 0.078, false},
    {"srad", 46, 247.525, 643.589, true},
    {"BlackScholes", 377, 26.318, 26.355, true},
    {"convolutionSeparable", 391, 19.223, 19.281, true},
    {"histogram", 431, 39.561, 39.588, true},
    {"matrixMul", 207, 44.241, 0.033, false},
    {"scan", 171, 54.705, 54.757, true},
}};

struct Settings {
  std::vector<std::string> programs;
  double seconds = 3;
};

constexpr const char* kTenant = "counted";
constexpr int kLooks = 20;  // at the class of the program, which each 10 ms decide anew

struct Cell {
  double kernel_us = 0;     // mean
  double asynchronous = 0;  // in 10 ms
  double synchronous = 0;
  double interactive = 0;  // part of the looks
};

/// Records the tenant. The counts are those of a window of so many seconds.
Result<Cell> counted(const Tenancy& tenancy, double seconds) {
  const ScratchFile file(".calls.json");
  FAIRGV_TRY(ended, run({{beside("fairgv"), "trace", "-o", file.path(), "--seconds",
                          fmt::format("{}", seconds), "--tenant", kTenant, "--socket", tenancy.socket()},
                         {}}));
  if (ended->status != 0) return Error{"fairgv trace failed"};
  std::ifstream in(file.path());
  const nlohmann::json trace = nlohmann::json::parse(in, nullptr, false);
  if (!trace.is_object()) return Error{"fairgv trace wrote no trace"};
  if (trace["otherData"]["lost_commands"] != 0)
    return Error{"the trace has lost commands: count for less long"};
  double launches = 0, launched_us = 0, transfers = 0, waits = 0;
  for (const auto& event : trace["traceEvents"]) {
    const std::string category = event.value("cat", "");
    if (category == "launch" || category == "launch in slices") {
      launches += 1;
      launched_us += event["dur"].get<double>();
    }
    transfers += category == "transfer" ? 1 : 0;
    waits += category == "call" && event["args"]["waited_for"] == "command" ? 1 : 0;
  }
  if (launches == 0) return Error{"the program launched nothing while it was traced: trace it for longer"};
  const double per_10_ms = 0.01 / seconds;
  return Cell{launched_us / launches, (launches + transfers) * per_10_ms, waits * per_10_ms};
}

Result<Cell> measure(const std::string& name, const Tenancy& tenancy, const Settings& settings,
                     const Placement& placement) {
  FAIRGV_TRY(program, sized(name, 0, placement));
  // The problem is checked for minutes on the host, where that is asked for.
  program->insert(program->end(),
                  {"--seconds", "3600", "--progress-ms", "200", "--verify", "off", "--warmup", "1"});
  Company company;
  FAIRGV_CHECK(company.join(tenancy, kTenant, program.value()));
  FAIRGV_CHECK(company.wait_for_output());
  FAIRGV_TRY(cell, counted(tenancy, settings.seconds));
  for (int look = 0; look < kLooks; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(37));
    FAIRGV_TRY(report, look_at(tenancy));
    FAIRGV_TRY(tenant, tenant_in(report.value(), kTenant));
    const auto& sessions = tenant.value()["sessions"];
    cell->interactive += !sessions.empty() && sessions[0]["interactive"].get<bool>() ? 1.0 / kLooks : 0;
  }
  FAIRGV_CHECK(company.look());
  return cell;
}

const char* yes_or_no(bool yes) {
  return yes ? "yes" : "no";
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  fmt::print(
      "Calls in 10 ms of each program by itself, and the paper's: (a)synchronous; interactive: more than "
      "ten\n"
      "synchronous ones in 10 ms; in parentheses the part of the time in which FairGV takes it for that\n\n"
      "{:<22}{:>22}{:>18}{:>18}{:>20}{:>8}\n",
      "program", "kernel us; paper", "asynchronous", "synchronous", "interactive", "paper");
  std::fflush(stdout);
  FAIRGV_TRY(tenancy, Tenancy::start(placement));
  ProgressLine progress(settings.programs.size());
  Findings found{
      "program,kernel_us,asynchronous,synchronous,interactive,looks_interactive,paper_kernel_us,"
      "paper_asynchronous,paper_synchronous,paper_interactive,same_class",
      {}};
  for (const Published& paper : kPublished) {
    if (std::find(settings.programs.begin(), settings.programs.end(), paper.program) ==
        settings.programs.end()) {
      continue;
    }
    progress.step(paper.program);
    FAIRGV_TRY(cell, measure(paper.program, tenancy.value(), settings, placement));
    const bool interactive = cell->interactive >= 0.5;
    progress.print_row(fmt::format("{:<22}{:>22}{:>18}{:>18}{:>20}{:>8}", paper.program,
                                   fmt::format("{:.0f}; {:.0f}", cell->kernel_us, paper.kernel_us),
                                   fmt::format("{:.2f}; {:.2f}", cell->asynchronous, paper.asynchronous),
                                   fmt::format("{:.2f}; {:.2f}", cell->synchronous, paper.synchronous),
                                   fmt::format("{} ({:.2f})", yes_or_no(interactive), cell->interactive),
                                   yes_or_no(paper.interactive)));
    found.rows.push_back(fmt::format("{},{:.1f},{:.3f},{:.3f},{},{:.2f},{:.0f},{:.3f},{:.3f},{},{}",
                                     paper.program, cell->kernel_us, cell->asynchronous, cell->synchronous,
                                     yes_or_no(interactive), cell->interactive, paper.kernel_us,
                                     paper.asynchronous, paper.synchronous, yes_or_no(paper.interactive),
                                     interactive == paper.interactive ? 1 : 0));
  }
  return found;
}

std::string in_table(const std::string& name) {
  std::string all;
  for (const Published& paper : kPublished) {
    if (name == paper.program) return {};
    all += (all.empty() ? "" : ", ") + std::string(paper.program);
  }
  return "'" + name + "' is none of " + all;
}

int run(int argc, char** argv) {
  Experiment experiment("calls", "Kernels, calls in 10 ms and class of each workload");
  Settings settings;
  for (const Published& paper : kPublished) settings.programs.emplace_back(paper.program);
  experiment.options()
      .add_option("--programs", settings.programs, "Workloads to look at")
      ->delimiter(',')
      ->check(in_table);
  experiment.setting("--seconds", settings.seconds, 0.5, "How long each program is traced")
      ->check(CLI::Range(0.1, 60.0));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"calls", run};

}  // namespace
}  // namespace fairgv::bench::calls_experiment
