// fairgv bench memory: three tenants that use 80 % of a device each, whose memory is lent ([device]
// oversubscribe), beside the same on a device where all of it fits, and on one where memory comes in when a
// command needs it (oversubscribe_mode = "demand"). The device is PoCL's, its size a setting and its link
// simulated.
//
// Each program counts its own rounds over the same seconds, and uses all of its memory in each. A program is
// also measured beside one that holds as much and never touches it.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::memory_experiment {
namespace {

using namespace harness;

struct Settings {
  int pairs = 3;
  double seconds = 30;
  int device_mib = 64;
  int link_mib = 512;  // per second
  int work = 1;
  bool only_lent = false;
};

constexpr int kTenants = 3;
constexpr int kBuffers = 13;
constexpr int kWritten = 9;
constexpr double kUsed = 0.8;          // of the device, by each
constexpr double kSecondsToStart = 6;  // of all programs
constexpr double kSecondsToLook = 0.1;

double least_of_most(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *most > 0 ? *least / *most : 0;
}

/// One run of all programs.
struct Run {
  std::vector<double> rounds;   // a second, by program
  std::vector<double> charged;  // device seconds over the same time
  double moved_mib = 0;         // in and out, a second

  double sum() const {
    double all = 0;
    for (const double each : rounds) all += each;
    return all;
  }
  double min_max_ratio() const { return least_of_most(rounds); }
  /// Rounds of a program within as much device time as the others', of the most: whether the same device time
  /// is the same work.
  double work_ratio() const {
    std::vector<double> work;
    for (std::size_t i = 0; i < rounds.size(); ++i)
      work.push_back(charged[i] > 0 ? rounds[i] / charged[i] : 0);
    return least_of_most(work);
  }
};

std::string lines_of(const Settings& settings, bool fits, bool on_demand) {
  if (fits) return fmt::format("memory = \"{}MiB\"\n", 4 * settings.device_mib);
  return fmt::format(
      "memory = \"{}MiB\"\noversubscribe = 2.5\noversubscribe_mode = \"{}\"\noversubscribe_link = "
      "\"{}MiB\"\n",
      settings.device_mib, on_demand ? "demand" : "turns", settings.link_mib);
}

std::vector<std::string> program(const Settings& settings, double seconds, double start) {
  const int mib = static_cast<int>(std::ceil(kUsed * settings.device_mib / kBuffers));
  return {beside("fairgv-probe-memory"), std::to_string(kWritten),      std::to_string(kBuffers - kWritten),
          std::to_string(mib),           std::to_string(settings.work), fmt::format("{:.3f}", seconds),
          fmt::format("{:.6f}", start)};
}

double moved_bytes(const nlohmann::json& report) {
  double moved = 0;
  for (const auto& tenant : report["tenants"]) {
    for (const auto& session : tenant["sessions"]) {
      for (const auto& lent : session["lent"])
        moved += lent["brought_in"].get<double>() + lent["taken_out"].get<double>();
    }
  }
  return moved;
}

/// `busy` programs, and perhaps one that only holds its memory.
Result<Run> run_together(const Settings& settings, const Placement& placement, const std::string& lines,
                         int busy, bool with_holder) {
  FAIRGV_TRY(tenancy, Tenancy::start(placement, {}, lines));
  const double start = monotonic_seconds() + kSecondsToStart;
  std::vector<std::pair<CommandLine, Child>> children;
  const auto begin = [&](const std::string& name, std::vector<std::string> command) -> Result<void> {
    CommandLine line = tenancy->tenant(name, 1, std::move(command));
    FAIRGV_TRY(child, Child::start(line));
    children.emplace_back(std::move(line), std::move(child).value());
    return {};
  };
  Company holder;
  if (with_holder) {
    FAIRGV_CHECK(holder.join(tenancy.value(), "holder", program(settings, 0, 0)));
    FAIRGV_CHECK(holder.wait_for_output());
  }
  for (int i = 0; i < busy; ++i)
    FAIRGV_CHECK(begin(fmt::format("busy{}", i + 1), program(settings, settings.seconds, start)));
  const auto look_when = [&](double when) {
    std::this_thread::sleep_for(std::chrono::duration<double>(when - monotonic_seconds()));
    return look_at(tenancy.value());
  };
  // The last look comes while all programs are there still.
  FAIRGV_TRY(early, look_when(start));
  FAIRGV_TRY(late, look_when(start + settings.seconds - kSecondsToLook));
  Run run;
  run.moved_mib = (moved_bytes(late.value()) - moved_bytes(early.value())) /
                  (settings.seconds - kSecondsToLook) / (1 << 20);
  FAIRGV_TRY(charged,
             charged_between(early.value(), late.value(), numbered("busy", static_cast<unsigned>(busy))));
  run.charged = charged.value();
  for (auto& [line, child] : children) {
    FAIRGV_TRY(result, result_of(line, finish(std::move(child))));
    run.rounds.push_back(result.value()["rounds"].get<double>() / result.value()["seconds"].get<double>());
  }
  return run;
}

void say(const char* what, const Run& run) {
  fmt::print(
      "{}: {:.1f} rounds a second; least of a tenant, of the most: rounds {:.3f}, device time {:.3f}, rounds "
      "in "
      "the same device time {:.3f}\n",
      what, run.sum(), run.min_max_ratio(), least_of_most(run.charged), run.work_ratio());
  std::fflush(stdout);
}

Result<Findings> measure(const Settings& settings, const Placement& placement) {
  Findings found{"fits,lent,demand,min_max_ratio,alone,beside_holder", {}};
  std::vector<double> to_fitting, to_demand, fairness, idle;
  for (int pair = 0; settings.only_lent && pair < settings.pairs; ++pair) {
    FAIRGV_TRY(fits, run_together(settings, placement, lines_of(settings, true, false), kTenants, false));
    FAIRGV_TRY(lent, run_together(settings, placement, lines_of(settings, false, false), kTenants, false));
    say("all fits", fits.value());
    say("lent", lent.value());
  }
  if (settings.only_lent) return found;
  for (int pair = 0; pair < settings.pairs; ++pair) {
    FAIRGV_TRY(fits, run_together(settings, placement, lines_of(settings, true, false), kTenants, false));
    FAIRGV_TRY(lent, run_together(settings, placement, lines_of(settings, false, false), kTenants, false));
    FAIRGV_TRY(demand, run_together(settings, placement, lines_of(settings, false, true), kTenants, false));
    FAIRGV_TRY(alone, run_together(settings, placement, lines_of(settings, false, false), 1, false));
    FAIRGV_TRY(beside_idle, run_together(settings, placement, lines_of(settings, false, false), 1, true));
    to_fitting.push_back(lent->sum() / fits->sum());
    to_demand.push_back(lent->sum() / demand->sum());
    fairness.push_back(lent->min_max_ratio());
    idle.push_back(beside_idle->sum() / alone->sum());
    fmt::print(
        "rounds a second: all fits {:.1f}; lent {:.1f} ({:.0f} MiB/s moved); on demand {:.1f} ({:.0f} "
        "MiB/s); "
        "alone {:.1f}, beside a holder {:.1f}\n",
        fits->sum(), lent->sum(), lent->moved_mib, demand->sum(), demand->moved_mib, alone->sum(),
        beside_idle->sum());
    std::fflush(stdout);
    found.rows.push_back(fmt::format("{:.3f},{:.3f},{:.3f},{:.4f},{:.3f},{:.3f}", fits->sum(), lent->sum(),
                                     demand->sum(), lent->min_max_ratio(), alone->sum(), beside_idle->sum()));
  }
  const auto line = [](const char* what, const std::vector<double>& values) {
    const Spread spread = spread_of(values);
    fmt::print("{:<44}{:>8.3f} ({:.3f}-{:.3f})\n", what, spread.median, spread.lowest, spread.highest);
  };
  fmt::print("\nMedians of {} (lowest-highest)\n", settings.pairs);
  line("lent, of what they do when all fits", to_fitting);
  line("lent, of what they do on demand", to_demand);
  line("least rounds of a tenant, of the most", fairness);
  line("beside a holder, of what one does alone", idle);
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("memory", "Tenants that have more memory together than the device");
  Settings settings;
  experiment.setting("--pairs", settings.pairs, 1, "Runs of each kind")->check(CLI::Range(1, 1'000));
  experiment.setting("--seconds", settings.seconds, 4, "The length of each run")
      ->check(CLI::Range(1.0, 3'600.0));
  experiment.setting("--device", settings.device_mib, 32, "Memory of the device, in MiB")
      ->check(CLI::Range(32, 65'536));
  experiment
      .setting("--link", settings.link_mib, 512, "The link that is simulated, in MiB per second each way")
      ->check(CLI::Range(1, 1'000'000));
  experiment.setting("--work", settings.work, 1, "Steps of a kernel for each word of its memory")
      ->check(CLI::Range(0, 1'000'000));
  experiment.options().add_flag("--only-lent", settings.only_lent,
                                "Only three tenants, whose memory fits and is lent: for runs of many turns");
  return experiment.run(argc, argv, [&](const auto& placement) { return measure(settings, placement); });
}

const Registration registration{"memory", run};

}  // namespace
}  // namespace fairgv::bench::memory_experiment
