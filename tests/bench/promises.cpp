// fairgv bench promises: the share of the device that tenants with guarantees and ceilings get in windows of
// one second, as they are charged, alone and beside others that take all they get. With --devices each device
// has all tenants, and the windows are those of the single devices.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/devices.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::promises_experiment {
namespace {

using namespace harness;

/// Programs have compiled and been sampled before the first window.
constexpr std::chrono::seconds kUnderWay{2};

struct Settings {
  unsigned windows = 20;
  std::size_t devices = 1;  // each with tenants of its own
};

struct Tenant {
  std::string name;
  std::string promise;  // as the environment has it; empty: none
  double promised = 0;  // per cent of the device
  bool ceiling = false;
};

struct Condition {
  std::string name;
  std::vector<Tenant> tenants;
};

std::vector<Condition> conditions() {
  const auto others = [](std::vector<Tenant> first) {
    for (const std::string& name : numbered("other", 4)) first.push_back({name, {}, 0, false});
    return first;
  };
  const Tenant low{"low", "FAIRGV_MAX=30%", 30, true};
  const Tenant high{"high", "FAIRGV_MAX=70%", 70, true};
  const Tenant sure{"sure", "FAIRGV_MIN=40%", 40, false};
  const Tenant timed{"timed", "FAIRGV_MIN=10ms/50ms", 20, false};
  const Tenant tight{"low", "FAIRGV_MAX=10%", 10, true};
  return {{"max 30 % alone", {low}},
          {"max 30 and 70 %", {low, high}},
          {"max 10 % beside 4", others({tight})},
          {"min 40 % beside 4", others({sure})},
          {"min 10 ms in 50 or max 30 % beside 4", others({timed, low})}};
}

std::vector<std::string> names_of(const Condition& condition) {
  std::vector<std::string> names;
  for (const Tenant& tenant : condition.tenants) names.push_back(tenant.name);
  return names;
}

/// Shares of the tenants in one window after another, in per cent; the windows of all devices together.
Result<std::vector<std::vector<double>>> shares(const Tenancy& tenancy, const Condition& condition,
                                                const Settings& settings, Company& company) {
  std::vector<std::vector<double>> found(condition.tenants.size());
  std::vector<double> charged;
  double at = 0;
  auto next = Company::Clock::now() + kUnderWay;
  for (unsigned i = 0; i <= settings.windows; ++i) {
    FAIRGV_CHECK(Company::watch_until(next, {&company}));
    next += std::chrono::seconds(1);
    FAIRGV_TRY(report, look_at(tenancy));
    const double now = report.value()["daemon"]["uptime_s"].get<double>();
    std::vector<double> so_far;
    for (const std::string& name : tenants_on_all(names_of(condition), settings.devices)) {
      FAIRGV_TRY(its, tenant_in(report.value(), name));
      so_far.push_back(charged_seconds(its.value()));
    }
    for (std::size_t k = 0; i > 0 && k < so_far.size(); ++k) {
      found[k % found.size()].push_back(100 * (so_far[k] - charged[k]) / (now - at));
    }
    charged = so_far;
    at = now;
  }
  return found;
}

Result<void> measure(const Tenancy& tenancy, const Condition& condition,
                     const std::vector<std::string>& program, const Settings& settings, Findings& into) {
  Company company;
  for (std::size_t device = 0; device < settings.devices; ++device) {
    for (const Tenant& tenant : condition.tenants) {
      std::vector<std::string> command = program;
      if (!tenant.promise.empty()) command.insert(command.begin(), {"/usr/bin/env", tenant.promise});
      FAIRGV_CHECK(company.join(tenancy, tenant_on(tenant.name, device, settings.devices), command));
    }
  }
  FAIRGV_CHECK(company.wait_for_output());
  FAIRGV_TRY(found, shares(tenancy, condition, settings, company));
  for (std::size_t k = 0; k < condition.tenants.size(); ++k) {
    const Tenant& tenant = condition.tenants[k];
    if (tenant.promise.empty()) continue;
    const Spread spread = spread_of(found.value()[k]);
    const double missed = tenant.ceiling ? spread.highest - tenant.promised : tenant.promised - spread.lowest;
    fmt::print("{:<36} {:<6} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>10.2f}\n", condition.name, tenant.name,
               tenant.promised, spread.median, spread.lowest, spread.highest, std::max(missed, 0.0));
    std::fflush(stdout);
    into.rows.push_back(fmt::format("{},{},{:.0f},{:.3f},{:.3f},{:.3f},{:.3f}", condition.name, tenant.name,
                                    tenant.promised, spread.median, spread.lowest, spread.highest,
                                    std::max(missed, 0.0)));
  }
  return {};
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(iterations, loop_iterations(placement));
  Findings found{"condition,tenant,promised,median,lowest,highest,missed", {}};
  fmt::print(
      "Part of the device in per cent, in {} windows of one second. Missed: by how much the worst window is\n"
      "above a ceiling or below a guarantee.\n\n{:<36} {:<6} {:>9} {:>9} {:>9} {:>9} {:>10}\n",
      settings.windows, "condition", "tenant", "promised", "median", "lowest", "highest", "missed");
  for (const Condition& condition : conditions()) {
    FAIRGV_TRY(tenancy, start_on(settings.devices, {}, placement,
                                 {tenants_on_all(names_of(condition), settings.devices)}));
    FAIRGV_CHECK(measure(tenancy.value(), condition, endless_program(iterations.value()), settings, found));
  }
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("promises", "Shares of tenants with guarantees and ceilings, second by second");
  Settings settings;
  experiment.setting("--windows", settings.windows, 3, "Seconds that are measured in each condition")
      ->check(CLI::Range(1, 100'000));
  declare_devices(experiment, settings.devices);
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"promises", run};

}  // namespace
}  // namespace fairgv::bench::promises_experiment
