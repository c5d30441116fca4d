// fairgv bench killed: the part of its throughput that a program keeps beside a tenant of the same weight
// whose programs are killed in the midst of their kernels, one after the other, and the charges of that
// tenant. Such a kernel is not cut and reports nothing: that it is charged rests on the daemon's own clock.
// Each pair is a window alone and one beside the loop. The time for which the kernels held the device is
// measured from the outside: from when `fairgv ps` shows one at work to when it shows that its session has
// gone.
#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/on_request.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::killed_experiment {
namespace {

using namespace harness;

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr const char* kProgram = "measured";
constexpr const char* kLoop = "loop";
// A look takes some milliseconds of a processor, which on a CPU device the program has less.
constexpr auto kLook = std::chrono::milliseconds(100);
// Only keeps a broken system from hanging the experiment.
constexpr std::chrono::seconds kPatience{60};
// Longer than any kernel of the loop's is let run.
constexpr const char* kEndlessMs = "1000000";

struct Settings {
  double seconds = 20;  // of each window
  double kernel_seconds = 2;
  int pairs = 5;
};

struct Pair {
  double kept = 0;     // throughput beside the loop over that alone
  double charged = 0;  // to the loop, over the time for which its kernels held the device
  int killed = 0;      // programs
};

/// Programs of one tenant, each of which is killed in the midst of a kernel.
class KilledLoop {
 public:
  explicit KilledLoop(const Tenancy& tenancy) : tenancy_(tenancy) {}

  /// Starts one, lets its kernel run for so long, and kills it. The seconds for which it held the device.
  Result<double> next(double kernel_seconds) const {
    CommandLine command = tenancy_.tenant(kLoop, 1, {beside("rogue"), "hold", "--milliseconds", kEndlessMs});
    command.environment.emplace_back("FAIRGV_LOG", "off");  // that its session ends is no news
    FAIRGV_TRY(program, Child::start(command));
    const auto began = wait_until([](const nlohmann::json& sessions) {
      return std::any_of(sessions.begin(), sessions.end(),
                         [](const nlohmann::json& session) { return session["state"] == "busy"; });
    });
    if (!began) return began.error();
    std::this_thread::sleep_until(began.value() + Seconds(kernel_seconds));
    ::kill(program->pid(), SIGKILL);
    // The idle program that keeps the tenant in the books stays.
    const auto ended = wait_until([](const nlohmann::json& sessions) { return sessions.size() <= 1; });
    if (!ended) return ended.error();
    return Seconds(ended.value() - began.value()).count();
  }

 private:
  /// Between the look that did not show it yet and the one that did.
  template <class Condition>
  Result<Clock::time_point> wait_until(Condition holds) const {
    auto last = Clock::now();
    for (const auto give_up = last + kPatience; last < give_up;) {
      FAIRGV_TRY(report, look_at(tenancy_));
      FAIRGV_TRY(tenant, tenant_in(report.value(), kLoop));
      const auto now = Clock::now();
      if (holds(tenant.value()["sessions"])) return last + (now - last) / 2;
      last = now;
      std::this_thread::sleep_for(kLook);
    }
    return Error{"the loop's program neither begins its kernel nor ends"};
  }

  const Tenancy& tenancy_;
};

/// Rounds per second in a window in the midst of the program's work. `meanwhile` runs from before the window
/// until after it, and is told when the window is over.
template <class Action>
Result<double> throughput(OnRequest& program, const Settings& settings, Action meanwhile) {
  const double lead = 2 * settings.kernel_seconds + 1;
  const double start = monotonic_seconds() + lead;
  FAIRGV_CHECK(program.open_window(start, settings.seconds, lead));
  if (Result<void> done = meanwhile(start + settings.seconds); !done) return done.error();
  return program.close_window();
}

Result<Pair> next_pair(const Settings& settings, const Tenancy& tenancy, OnRequest& program) {
  const auto alone = throughput(program, settings, [](double) { return Result<void>(); });
  if (!alone) return alone.error();
  FAIRGV_TRY(before, look_at(tenancy));
  Pair pair;
  double held = 0;
  const auto together = throughput(program, settings, [&](double end) -> Result<void> {
    const KilledLoop loop(tenancy);
    for (; monotonic_seconds() < end; ++pair.killed) {
      FAIRGV_TRY(seconds, loop.next(settings.kernel_seconds));
      held += seconds.value();
    }
    return {};
  });
  if (!together) return together.error();
  FAIRGV_TRY(after, look_at(tenancy));
  FAIRGV_TRY(charged, charged_between(before.value(), after.value(), {kLoop}));
  pair.kept = together.value() / alone.value();
  pair.charged = charged->front() / held;
  return pair;
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(iterations, loop_iterations(placement));
  FAIRGV_TRY(tenancy, Tenancy::start(placement));
  FAIRGV_TRY(in_the_books, start_idle(tenancy.value(), {kLoop}));
  OnRequest program(".measured");
  FAIRGV_TRY(started,
             program.start(tenancy->tenant(kProgram, 1,
                                           {beside("workloads/computeLoop"), "--iterations",
                                            std::to_string(iterations.value()), "--sync", "stream"})));
  FAIRGV_CHECK(program.rounds_in(0.5));
  fmt::print(
      "A program beside a tenant of the same weight whose programs are killed {:g} s into their kernels.\n"
      "kept: its throughput over that alone; charged: to that tenant, over the time for which its kernels "
      "held\n"
      "the device\n\n{:>6}{:>10}{:>10}{:>10}\n",
      settings.kernel_seconds, "pair", "killed", "kept", "charged");
  Findings found{"pair,killed,kept,charged", {}};
  std::vector<double> kept, charged;
  for (int number = 1; number <= settings.pairs; ++number) {
    FAIRGV_TRY(pair, next_pair(settings, tenancy.value(), program));
    kept.push_back(pair->kept);
    charged.push_back(pair->charged);
    fmt::print("{:>6}{:>10}{:>10.3f}{:>10.3f}\n", number, pair->killed, pair->kept, pair->charged);
    std::fflush(stdout);
    found.rows.push_back(fmt::format("{},{},{:.4f},{:.4f}", number, pair->killed, pair->kept, pair->charged));
  }
  FAIRGV_CHECK(program.end());
  fmt::print("\nmedian: kept {:.3f}, charged {:.3f}\n", median(kept), median(charged));
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("killed",
                        "What a program keeps beside programs that are killed in the midst of their kernels");
  Settings settings;
  experiment.setting("--seconds", settings.seconds, 2, "Of each window, alone and beside them")
      ->check(CLI::Range(1.0, 3600.0));
  experiment
      .setting("--kernel-seconds", settings.kernel_seconds, 0.5, "Into a kernel, when its program is killed")
      ->check(CLI::Range(0.1, 9.0));
  experiment.setting("--pairs", settings.pairs, 1, "Of windows")->check(CLI::Range(1, 10'000));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"killed", run};

}  // namespace
}  // namespace fairgv::bench::killed_experiment
