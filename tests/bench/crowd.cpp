// fairgv bench crowd: many tenants of equal weight at once. Whether all of them make progress, how equal
// their shares are (Min-Max Ratio, FairGV paper, section 5.4.1), and the cost of idle tenants meanwhile. With
// --devices each device has as many of both, and the Min-Max Ratios are the worst device's.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/devices.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/process_cpu.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::crowd_experiment {
namespace {

using namespace harness;

using Clock = Company::Clock;
using Seconds = std::chrono::duration<double>;

/// Seconds from the first look at the charges to the window.
constexpr double kLookBefore = 0.5;

struct Settings {
  unsigned tenants = 64;
  unsigned idle = 8;
  double seconds = 30;
  double delay = 0;  // from the start of the tenants to the window
  std::size_t devices = 1;

  std::vector<std::string> names(const char* kind, unsigned of_a_device) const {
    return tenants_on_all(numbered(kind, of_a_device), devices);
  }
  std::vector<std::string> crowd() const { return names("tenant", tenants); }
  std::vector<std::string> sleepers() const { return names("idle", idle); }
};

/// Of the device whose tenants differ most.
double worst_ratio(const std::vector<double>& values, std::size_t devices) {
  double worst = 1;
  for (std::size_t device = 0; device < devices; ++device)
    worst = std::min(worst, min_max_ratio(of_device(values, device, devices)));
  return worst;
}

Clock::time_point later(Clock::time_point from, double seconds) {
  return from + std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
}

/// CPU time of the idle tenants' programs and their workers so far, in seconds, and when that was.
struct IdleCpu {
  double used = 0;
  double at = 0;
};

Result<IdleCpu> idle_cpu(const nlohmann::json& report, const Settings& settings) {
  IdleCpu cpu;
  for (const std::string& name : settings.sleepers()) {
    FAIRGV_TRY(tenant, tenant_in(report, name));
    const nlohmann::json& sessions = tenant.value()["sessions"];
    if (sessions.empty()) return Error{name + " has no session"};
    for (const auto& session : sessions) {
      for (const char* process : {"pid", "worker_pid"}) {
        const auto used = cpu_seconds(session[process].get<pid_t>());
        if (!used) return Error{name + " is gone"};
        cpu.used += *used;
      }
    }
  }
  cpu.at = monotonic_seconds();
  return cpu;
}

Result<Company> start_crowd(const Tenancy& tenancy, const Settings& settings, std::uint64_t iterations,
                            Clock::time_point window) {
  auto program = saturating_program(iterations, settings.seconds);
  // A window shows whole batches only, and of the usual twelve launches a tenant has two hundred in it.
  program.insert(program.end(), {"--batch", "6", "--start-at",
                                 fmt::format("{:.3f}", Seconds(window.time_since_epoch()).count())});
  Company crowd;
  for (const std::string& name : settings.crowd()) {
    FAIRGV_CHECK(crowd.join(tenancy, name, program));
  }
  return crowd;
}

/// Throughputs in Miteration/s.
Result<std::vector<double>> collect(Company crowd) {
  std::vector<double> throughputs;
  for (const Finished& finished : std::move(crowd).finish()) {
    FAIRGV_TRY(result, result_of({{beside("workloads/computeLoop")}, {}}, finished));
    throughputs.push_back(result.value()["throughput"]);
  }
  return throughputs;
}

Findings print_result(const Settings& settings, const std::vector<double>& throughputs,
                      const std::vector<double>& charged, double idle_cpu_s, double idle_for_s) {
  const auto progressing =
      std::count_if(throughputs.begin(), throughputs.end(), [](double each) { return each > 0; });
  const double lowest = smallest(throughputs);
  const double highest = largest(throughputs);
  const double ratio = worst_ratio(throughputs, settings.devices);
  const double charged_ratio = worst_ratio(charged, settings.devices);
  fmt::print("made progress   {} of {}\n", progressing, throughputs.size());
  fmt::print("Min-Max Ratio   {:.3f}   (1 = all tenants did the same work)\n", ratio);
  fmt::print("throughput      {:.4g} to {:.4g}, median {:.4g} Miteration/s\n", lowest, highest,
             median(throughputs));
  fmt::print("charged         {:.1f} to {:.1f} ms of the device, Min-Max Ratio {:.3f}\n",
             1e3 * smallest(charged), 1e3 * largest(charged), charged_ratio);
  fmt::print("idle tenants    {}; with their workers they used {:.3f} ms of CPU time, {:.4f} % of a core\n",
             settings.sleepers().size(), 1e3 * idle_cpu_s, 100 * idle_cpu_s / idle_for_s);
  return {
      "tenants,seconds,made_progress,min_max_ratio,lowest,median,highest,min_max_ratio_charged,"
      "idle_tenants,idle_cpu_ms",
      {fmt::format("{},{},{},{:.4f},{:.3f},{:.3f},{:.3f},{:.4f},{},{:.3f}", throughputs.size(),
                   settings.seconds, progressing, ratio, lowest, median(throughputs), highest, charged_ratio,
                   settings.sleepers().size(), 1e3 * idle_cpu_s)}};
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(iterations, loop_iterations(placement));
  FAIRGV_TRY(tenancy, start_on(settings.devices, {}, placement, {settings.crowd(), settings.sleepers()}));
  FAIRGV_TRY(idle, start_idle(tenancy.value(), settings.sleepers()));

  const auto window = later(Clock::now(), settings.delay);
  FAIRGV_TRY(crowd, start_crowd(tenancy.value(), settings, iterations.value(), window));
  fmt::print("{} tenants of equal weight get ready; their common window of {} s opens in {} s ...\n",
             settings.crowd().size(), settings.seconds, settings.delay);
  std::fflush(stdout);
  const auto wait_until = [&](Clock::time_point end) {
    return Company::watch_until(end, {&idle.value(), &crowd.value()});
  };
  // Everybody sleeps by then; a look takes longer than some of their first turns.
  FAIRGV_CHECK(wait_until(later(window, -kLookBefore)));
  FAIRGV_TRY(opened, look_at(tenancy.value()));
  FAIRGV_TRY(before, idle_cpu(opened.value(), settings));
  if (auto there = wait_until(later(window, settings.seconds)); !there) {
    return Error{there.error().message + "; if it was not ready, choose a longer --delay"};
  }
  FAIRGV_TRY(closed, look_at(tenancy.value()));
  FAIRGV_TRY(after, idle_cpu(closed.value(), settings));
  FAIRGV_TRY(charged, charged_between(opened.value(), closed.value(), settings.crowd()));
  FAIRGV_TRY(throughputs, collect(std::move(crowd).value()));
  return print_result(settings, throughputs.value(), charged.value(), after->used - before->used,
                      after->at - before->at);
}

int run(int argc, char** argv) {
  Experiment experiment("crowd", "Many tenants of equal weight at once, and idle ones beside them");
  Settings settings;
  experiment.options()
      .add_option("--tenants", settings.tenants, "Tenants that keep the device busy")
      ->check(CLI::Range(2, 200));
  experiment.setting("--idle", settings.idle, 2, "Tenants that sleep meanwhile")->check(CLI::Range(0, 50));
  experiment.setting("--seconds", settings.seconds, 1, "Length of the shared window")
      ->check(CLI::Range(1.0, 3'600.0));
  experiment.options()
      .add_option("--delay", settings.delay,
                  "Seconds for all tenants to get ready (default: 10, and 0.5 for each)")
      ->check(CLI::Range(1.0, 3'600.0));
  declare_devices(experiment, settings.devices);
  return experiment.run(argc, argv, [&](const auto& placement) {
    if (settings.delay == 0) settings.delay = 10 + 0.5 * static_cast<double>(settings.crowd().size());
    return run_benchmark(settings, placement);
  });
}

const Registration registration{"crowd", run};

}  // namespace
}  // namespace fairgv::bench::crowd_experiment
