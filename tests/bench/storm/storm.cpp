// fairgv bench storm: one fault after the other, at random, while tenants compute. Clients and workers are
// killed, the daemon is replaced, kernels crash or never end, memory is refused. On a CPU device kernels also
// play their worker's part, leave processes behind, and flood what they print (storm_programs.hpp). A program
// that is not hit must end with right results; two tenants that are never hit must keep their shares; and in
// the end nothing may be left: no process, no descriptor, no mapping, no control group, no byte that is
// charged. The books must be right, too: a program that is killed in the midst of a kernel has paid for it,
// and all tenants together have not paid for more of the devices' time than has passed.
#include <fmt/core.h>

#include <cstdio>
#include <random>
#include <string>

#include "tests/bench/storm/storm_daemon.hpp"
#include "tests/bench/storm/storm_run.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::bench::storm_experiment {
namespace {

using namespace harness;

// Longer than a driver takes to compile a kernel on its device thread, on a machine that is busy.
constexpr const char* kWatchdog = "hold_limit_s = 2\n";

/// The daemon's configuration for it.
std::string usage_store(const std::string& file) {
  return "[usage]\nstore = \"" + file + "\"\n";
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  fmt::print("A storm of faults over {} tenants for {} s, --seed {}\n\n", settings.tenants, settings.seconds,
             settings.seed);
  std::fflush(stdout);
  const TemporaryFolder folder;  // outlives the daemon
  const auto began = StormDaemon::Clock::now();
  FAIRGV_TRY(tenancy,
             Tenancy::start(placement, holdings_mark(), kWatchdog + usage_store(folder / "usage.db")));
  StormDaemon daemon(tenancy.value(), began);
  FAIRGV_TRY(run, storm(tenancy.value(), daemon, settings));
  const Tally& tally = run.value();
  Findings found{"what,number", {}};
  const auto row = [&](const std::string& what, const std::string& number) {
    fmt::print("{:<66}{:>10}\n", what, number);
    found.rows.push_back(csv_cell(what) + ',' + number);
  };
  for (const auto& [what, count] : tally.counts) row(what, std::to_string(count));
  row("sessions that the watchdog ended",
      std::to_string(daemon.log_lines("held a device for more than").size()));
  if (!tally.shares.empty()) {
    row("share of weight 2 over that of weight 1, over 2", fmt::format("{:.3f}", median(tally.shares)));
    row("the same, the least", fmt::format("{:.3f}", smallest(tally.shares)));
    row("the same, the most", fmt::format("{:.3f}", largest(tally.shares)));
  }
  row("what the steady tenants had of what was charged, over their share",
      fmt::format("{:.3f}", tally.steady / tally.charged));
  if (!tally.paid.empty()) {
    row("paid for kernels killed in their midst, the least", fmt::format("{:.3f}", smallest(tally.paid)));
  }
  row("device time that was charged, of what passed", fmt::format("{:.3f}", tally.charged));
  row("complaints", std::to_string(tally.complaints.size()));
  for (const std::string& complaint : tally.complaints) fmt::print("  {}\n", complaint);
  if (!tally.complaints.empty()) return Error{"the storm has done harm: " + tally.complaints.front()};
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("storm", "One fault after the other while tenants compute, and what is left of it");
  Settings settings;
  settings.seed = std::random_device{}();
  experiment.setting("--seconds", settings.seconds, 10, "How long")->check(CLI::Range(2.0, 86'400.0));
  experiment.options()
      .add_option("--tenants", settings.tenants, "Of which two are never hit")
      ->check(CLI::Range(3, 64));
  experiment.options().add_option("--seed", settings.seed,
                                  "Of the faults; another one each time unless given");
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"storm", run};

}  // namespace
}  // namespace fairgv::bench::storm_experiment
