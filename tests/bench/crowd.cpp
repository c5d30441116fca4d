// fairgv bench crowd: many tenants of equal weight at once. Whether all of them make progress, how equal
// their shares are (Min-Max Ratio, FairGV paper, section 5.4.1), and what idle tenants cost meanwhile.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/bench/support/company.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/process_cpu.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Settings {
  unsigned tenants = 64;
  unsigned idle = 8;
  double seconds = 30;
  double delay = 0;  // from the start of the tenants to the window
};

/// CPU time of the idle tenants' programs and their workers so far, in seconds.
Result<double> idle_cpu(const Tenancy& tenancy, unsigned idle) {
  const auto report = look_at(tenancy);
  if (!report) return report.error();
  double sum = 0;
  for (unsigned i = 1; i <= idle; ++i) {
    const auto tenant = tenant_in(report.value(), fmt::format("idle{}", i));
    if (!tenant) return tenant.error();
    for (const auto& session : tenant.value()["sessions"]) {
      for (const char* process : {"pid", "worker_pid"}) {
        const auto used = cpu_seconds(session[process].get<pid_t>());
        if (!used) return Error{fmt::format("idle{} is gone", i)};
        sum += *used;
      }
    }
  }
  return sum;
}

Result<std::vector<Child>> start_idle_tenants(const Tenancy& tenancy, unsigned count) {
  std::vector<Child> children;
  for (unsigned i = 1; i <= count; ++i) {
    auto child = start_idle(tenancy, fmt::format("idle{}", i));
    if (!child) return child.error();
    children.push_back(std::move(child).value());
  }
  return children;
}

Result<std::vector<Child>> start_crowd(const Tenancy& tenancy, const Settings& settings,
                                       std::uint64_t iterations, Clock::time_point window) {
  auto program = saturating_program(iterations, settings.seconds);
  program.insert(program.end(),
                 {"--start-at", fmt::format("{:.3f}", Seconds(window.time_since_epoch()).count())});
  std::vector<Child> children;
  for (unsigned i = 1; i <= settings.tenants; ++i) {
    auto child = Child::start(tenancy.tenant(fmt::format("tenant{}", i), 1, program));
    if (!child) return child.error();
    children.push_back(std::move(child).value());
  }
  return children;
}

/// Throughputs in Miteration/s.
Result<std::vector<double>> collect(std::vector<Child>& crowd) {
  std::vector<double> throughputs;
  for (std::size_t i = 0; i < crowd.size(); ++i) {
    // A program prints less than a pipe holds, so none waits for us.
    const int status = crowd[i].wait();
    const auto lines = crowd[i].read_lines();
    const nlohmann::json result = lines.empty() ? nullptr : parse_line(lines.back());
    if (status != 0 || !result.is_object() || !result.value("verified", false)) {
      return Error{fmt::format("tenant{} failed with status {}; if it was not ready, choose a longer --delay",
                               i + 1, status)};
    }
    throughputs.push_back(result["throughput"]);
  }
  return throughputs;
}

Csv print_result(const Settings& settings, const std::vector<double>& throughputs, double idle_cpu_s) {
  const auto progressing =
      std::count_if(throughputs.begin(), throughputs.end(), [](double each) { return each > 0; });
  const double lowest = smallest(throughputs);
  const double highest = largest(throughputs);
  const double ratio = highest > 0 ? lowest / highest : 0;
  fmt::print("made progress   {} of {}\n", progressing, settings.tenants);
  fmt::print("Min-Max Ratio   {:.3f}   (1 = all tenants did the same work)\n", ratio);
  fmt::print("throughput      {:.4g} to {:.4g}, median {:.4g} Miteration/s\n", lowest, highest,
             median(throughputs));
  fmt::print("idle tenants    {}; with their workers they used {:.0f} ms of CPU time, {:.3f} % of a core\n",
             settings.idle, 1e3 * idle_cpu_s, 100 * idle_cpu_s / settings.seconds);
  return {"tenants,seconds,made_progress,min_max_ratio,lowest,median,highest,idle_tenants,idle_cpu_ms",
          {fmt::format("{},{},{},{:.4f},{:.3f},{:.3f},{:.3f},{},{:.0f}", settings.tenants, settings.seconds,
                       progressing, ratio, lowest, median(throughputs), highest, settings.idle,
                       1e3 * idle_cpu_s)}};
}

Result<Csv> run_benchmark(const Settings& settings, const Placement& placement) {
  const auto iterations = loop_iterations(placement);
  if (!iterations) return iterations.error();
  auto tenancy = Tenancy::start(placement);
  if (!tenancy) return tenancy.error();
  const auto idle = start_idle_tenants(tenancy.value(), settings.idle);
  if (!idle) return idle.error();

  const auto window = Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(settings.delay));
  auto crowd = start_crowd(tenancy.value(), settings, iterations.value(), window);
  if (!crowd) return crowd.error();
  fmt::print("{} tenants of equal weight get ready; their common window of {} s opens in {} s ...\n",
             settings.tenants, settings.seconds, settings.delay);
  std::fflush(stdout);
  std::this_thread::sleep_until(window);
  const auto before = idle_cpu(tenancy.value(), settings.idle);
  if (!before) return before.error();
  std::this_thread::sleep_until(window +
                                std::chrono::duration_cast<Clock::duration>(Seconds(settings.seconds)));
  const auto after = idle_cpu(tenancy.value(), settings.idle);
  if (!after) return after.error();
  const auto throughputs = collect(crowd.value());
  if (!throughputs) return throughputs.error();
  return print_result(settings, throughputs.value(), after.value() - before.value());
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  using namespace fairgv::bench;
  Experiment experiment("crowd", "Many tenants of equal weight at once, and idle ones beside them");
  Settings settings;
  CLI::App& options = experiment.options();
  options.add_option("--tenants", settings.tenants, "Tenants that keep the device busy")
      ->check(CLI::Range(2, 200));
  auto* idle =
      options.add_option("--idle", settings.idle, "Tenants that sleep meanwhile")->check(CLI::Range(0, 50));
  auto* seconds = options.add_option("--seconds", settings.seconds, "Length of the shared window")
                      ->check(CLI::Range(1.0, 3'600.0));
  auto* delay = options
                    .add_option("--delay", settings.delay,
                                "Seconds for all tenants to get ready (default: 10, and 0.5 for each)")
                    ->check(CLI::Range(1.0, 3'600.0));
  return experiment.run(argc, argv, [&](const auto& placement) {
    if (experiment.quick() && idle->empty()) settings.idle = 2;
    if (experiment.quick() && seconds->empty()) settings.seconds = 1;
    if (delay->empty()) settings.delay = 10 + 0.5 * settings.tenants;
    return run_benchmark(settings, placement);
  });
}
