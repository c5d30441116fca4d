// fairgv bench latency: how long a program that wakes up waits for its first command, while others of equal
// weight keep the device busy. Fair queuing makes a waking tenant the next one (FairGV paper, section 3.2.1),
// so it waits for the turn in progress: a slice at most, and the last kernel's overrun.
#include <fmt/core.h>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench::latency_experiment {
namespace {

using namespace harness;

struct Settings {
  std::vector<unsigned> competitors{1, 2, 5};
  unsigned wakes = 500;
  std::uint64_t seed = 42;
  std::string service = "normal";
};

struct Condition {
  std::string name;
  CommandLine program;
  unsigned competitors = 0;
};

/// Device time that the tenants busy1, busy2, ... have been charged so far, and when that was, in seconds.
struct Books {
  double charged = 0;
  double at = 0;
};

Result<Books> books(const Tenancy& tenancy, unsigned competitors) {
  FAIRGV_TRY(report, look_at(tenancy));
  Books books;
  for (const std::string& name : numbered("busy", competitors)) {
    FAIRGV_TRY(tenant, tenant_in(report.value(), name));
    books.charged += charged_seconds(tenant.value());
  }
  books.at = monotonic_seconds();
  return books;
}

Result<void> measure(const Tenancy& tenancy, const Condition& condition, double slice_us, Findings& into) {
  FAIRGV_TRY(before, books(tenancy, condition.competitors));
  FAIRGV_TRY(result, run_measured(condition.program));
  FAIRGV_TRY(after, books(tenancy, condition.competitors));
  const double load = (after->charged - before->charged) / (after->at - before->at);
  const nlohmann::json& found = result.value();
  const double p50 = found["p50_us"], p90 = found["p90_us"], p99 = found["p99_us"], most = found["max_us"];
  fmt::print("{:<20} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.3f}\n", condition.name, p50, p90, p99,
             most, slice_us, load);
  std::fflush(stdout);
  into.rows.push_back(fmt::format("{},{:.1f},{:.1f},{:.1f},{:.1f},{:.0f},{:.4f}", condition.name, p50, p90,
                                  p99, most, slice_us, load));
  return {};
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(iterations, loop_iterations(placement));
  FAIRGV_TRY(tenancy, Tenancy::start(placement));
  FAIRGV_TRY(report, look_at(tenancy.value()));
  const double slice_us = 1'000 * report.value()["daemon"]["slice_ms"].get<double>();
  const std::vector<std::string> probe{beside("fairgv-probe-latency"), "wake", std::to_string(settings.wakes),
                                       std::to_string(settings.seed)};

  fmt::print(
      "{} times (seed {}) a program sleeps for 5 to 40 ms, launches one tiny kernel and waits for it.\n"
      "How long that takes, in us; beside one tenant that keeps the device busy, the slice should bound "
      "it.\nLoad: the part of the time in which the device worked for those, as they were charged.\n\n"
      "{:<20} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
      settings.wakes, settings.seed, "program", "p50", "p90", "p99", "max", "slice", "load");
  Findings found{"condition,p50_us,p90_us,p99_us,max_us,slice_us,load", {}};
  const auto add = [&](const Condition& condition) {
    return measure(tenancy.value(), condition, slice_us, found);
  };
  FAIRGV_CHECK(add({"bare", bare(probe, placement)}));
  std::vector<std::string> of_class = probe;
  of_class.insert(of_class.begin(), {"/usr/bin/env", "FAIRGV_CLASS=" + settings.service});
  const CommandLine waking = tenancy->tenant("waking", 1, of_class);
  FAIRGV_CHECK(add({"the only tenant", waking}));
  for (const unsigned count : settings.competitors) {
    FAIRGV_TRY(busy, start_saturating(tenancy.value(), count, iterations.value()));
    FAIRGV_CHECK(add({fmt::format("beside {}", count), waking, count}));
    FAIRGV_CHECK(busy->look());
  }
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("latency", "How long a waking tenant waits for its first command under load");
  Settings settings;
  experiment.setting("--wakes", settings.wakes, 20, "How often the program sleeps and wakes")
      ->check(CLI::Range(1, 1'000'000));
  experiment.options().add_option("--seed", settings.seed, "Of the times that it sleeps");
  experiment.options()
      .add_option("--class", settings.service, "The waking tenant's class of service")
      ->check(CLI::IsMember({"normal", "latency", "batch"}));
  experiment.options()
      .add_option("--beside", settings.competitors, "Numbers of tenants that keep the device busy meanwhile")
      ->delimiter(',')
      ->check(CLI::Range(1, 200));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"latency", run};

}  // namespace
}  // namespace fairgv::bench::latency_experiment
