// fairgv bench latency: how long a program that wakes up waits for its first command, while others of equal
// weight keep the device busy. Fair queuing makes a waking tenant the next one (FairGV paper, section 3.2.1),
// so it waits for the turn in progress: a slice at most, and the last kernel's overrun.
//
// Beside it the same program on the bare driver, alone and beside a bare program that keeps the device busy
// as a tenant does. All conditions take turns, in which the programs start anew. With --devices each device
// has all programs, and the waits are those on all devices.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/devices.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::latency_experiment {
namespace {

using namespace harness;

// Only keeps a broken system from hanging the experiment.
constexpr double kPatienceSeconds = 60;
constexpr std::chrono::milliseconds kLook{20};

// So few that some conditions without tenants take less than the half minute after which a daemon without
// sessions ends.
constexpr unsigned kWakesOfATurn = 100;
constexpr unsigned kFewestTurns = 2;

struct Settings {
  std::vector<unsigned> competitors{1, 2, 5};
  unsigned wakes = 500;  // at least, on each device in all turns
  std::uint64_t seed = 42;
  std::string service = "normal";
  std::size_t devices = 1;

  unsigned turns() const { return std::max(kFewestTurns, (wakes + kWakesOfATurn - 1) / kWakesOfATurn); }
  unsigned wakes_of_a_turn() const { return (wakes + turns() - 1) / turns(); }
};

struct Condition {
  std::string name;
  bool as_tenants = false;  // or on the driver alone
  unsigned competitors = 0;
};

/// The findings of a condition so far, on all devices.
struct Waits {
  std::vector<double> us{};
  double charged_s = 0;  // to the competitors
  double seconds = 0;    // of the turns
};

std::vector<Condition> conditions_of(const Settings& settings) {
  std::vector<Condition> conditions{
      {"bare", false, 0}, {"bare beside a flood", false, 1}, {"the only tenant", true, 0}};
  for (const unsigned count : settings.competitors) {
    conditions.push_back({fmt::format("beside {}", count), true, count});
  }
  return conditions;
}

/// On all devices; none on the driver alone.
std::vector<std::string> competitors_of(const Condition& condition, const Settings& settings) {
  if (!condition.as_tenants) return {};
  return tenants_on_all(numbered("busy", condition.competitors), settings.devices);
}

/// Device time that these tenants have been charged so far, in seconds.
Result<double> charged_to(const std::vector<std::string>& tenants, const nlohmann::json& report) {
  double charged = 0;
  for (const std::string& name : tenants) {
    FAIRGV_TRY(tenant, tenant_in(report, name));
    charged += charged_seconds(tenant.value());
  }
  return charged;
}

/// Until the daemon has no session any more.
Result<void> wait_until_all_are_gone(const Tenancy& tenancy) {
  const double give_up = monotonic_seconds() + kPatienceSeconds;
  for (;;) {
    FAIRGV_TRY(report, look_at(tenancy));
    if (report.value()["tenants"].empty()) return {};
    if (monotonic_seconds() > give_up) return Error{"sessions of programs that have ended are still there"};
    std::this_thread::sleep_for(kLook);
  }
}

/// One condition after the other.
class Turn {
 public:
  Turn(const Settings& settings, const Tenancy& tenancy, const Placement& placement, std::uint64_t iterations,
       std::uint64_t seed)
      : settings_(settings), tenancy_(tenancy), placement_(placement), iterations_(iterations), seed_(seed) {}

  Result<void> take(const Condition& condition, Waits& into) const {
    Company company;
    FAIRGV_CHECK(start_competitors(condition, company));
    const std::vector<std::string> competitors = competitors_of(condition, settings_);
    FAIRGV_TRY(before, look_at(tenancy_));
    FAIRGV_TRY(charged_before, charged_to(competitors, before.value()));
    const double began = monotonic_seconds();
    FAIRGV_CHECK(wake(condition, into));
    FAIRGV_TRY(after, look_at(tenancy_));
    into.seconds += monotonic_seconds() - began;
    FAIRGV_TRY(charged_after, charged_to(competitors, after.value()));
    into.charged_s += charged_after.value() - charged_before.value();
    FAIRGV_CHECK(company.look());
    company.ask_to_end();
    for (const Finished& finished : std::move(company).finish()) {
      FAIRGV_CHECK(result_of({endless_program(iterations_), {}}, finished));
    }
    return wait_until_all_are_gone(tenancy_);
  }

 private:
  Result<void> start_competitors(const Condition& condition, Company& company) const {
    const std::vector<std::string> program = endless_program(iterations_);
    for (const std::string& name : competitors_of(condition, settings_)) {
      FAIRGV_CHECK(company.join(tenancy_, name, program));
    }
    for (std::size_t device = 0; !condition.as_tenants && device < settings_.devices; ++device) {
      for (unsigned i = 0; i < condition.competitors; ++i) {
        FAIRGV_CHECK(
            company.join("the flood", bare(on_device(program, device, settings_.devices), placement_)));
      }
    }
    return company.wait_for_output();
  }

  /// A tenant sees its own device only.
  CommandLine probe(const Condition& condition, std::size_t device) const {
    std::vector<std::string> program{beside("fairgv-probe-latency"), "wake",
                                     std::to_string(settings_.wakes_of_a_turn()), std::to_string(seed_),
                                     std::to_string(condition.as_tenants ? 0 : device)};
    if (!condition.as_tenants) return bare(std::move(program), placement_);
    program.insert(program.begin(), {"/usr/bin/env", "FAIRGV_CLASS=" + settings_.service});
    return tenancy_.tenant(tenant_on("waking", device, settings_.devices), 1, std::move(program));
  }

  /// On all devices at once.
  Result<void> wake(const Condition& condition, Waits& into) const {
    std::vector<CommandLine> commands;
    std::vector<Child> probes;
    for (std::size_t device = 0; device < settings_.devices; ++device) {
      commands.push_back(probe(condition, device));
      FAIRGV_TRY(child, Child::start(commands.back()));
      probes.push_back(std::move(child).value());
    }
    for (std::size_t device = 0; device < settings_.devices; ++device) {
      Finished finished = finish(std::move(probes[device]));
      FAIRGV_CHECK(result_of(commands[device], finished));
      finished.lines.pop_back();
      for (const std::string& line : finished.lines) into.us.push_back(std::strtod(line.c_str(), nullptr));
    }
    return {};
  }

  const Settings& settings_;
  const Tenancy& tenancy_;
  const Placement& placement_;
  const std::uint64_t iterations_;
  const std::uint64_t seed_;
};

/// The part of the devices' time for which the competitors were charged; of bare ones nobody knows.
std::optional<double> load_of(const Condition& condition, const Waits& waits, std::size_t devices) {
  if (!condition.as_tenants && condition.competitors > 0) return std::nullopt;
  return waits.charged_s / waits.seconds / static_cast<double>(devices);
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(iterations, loop_iterations(placement));
  unsigned most = 1;
  for (const unsigned count : settings.competitors) most = std::max(most, count);
  FAIRGV_TRY(tenancy, start_on(settings.devices, {}, placement,
                               {tenants_on_all({"waking"}, settings.devices),
                                tenants_on_all(numbered("busy", most), settings.devices)}));
  FAIRGV_TRY(report, look_at(tenancy.value()));
  const double slice_us = 1'000 * report.value()["daemon"]["slice_ms"].get<double>();
  fmt::print(
      "{} times (seed {}) a program sleeps for 5 to 40 ms, launches one tiny kernel and waits for it.\n"
      "How long that takes, in us, in {} turns of each condition; beside one tenant that keeps the device\n"
      "busy, the slice should bound it. Flood: such a program on the driver alone. Load: the part of the\n"
      "time in which the device worked for those tenants, as they were charged.\n\n"
      "{:<20} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
      settings.turns() * settings.wakes_of_a_turn(), settings.seed, settings.turns(), "program", "p50", "p90",
      "p95", "p99", "max", "slice", "load");
  std::fflush(stdout);
  std::vector<Condition> conditions = conditions_of(settings);
  std::vector<Waits> waits(conditions.size());
  ProgressLine progress(conditions.size() * settings.turns());
  for (unsigned turn = 0; turn < settings.turns(); ++turn) {
    const Turn next(settings, tenancy.value(), placement, iterations.value(), settings.seed + turn);
    for (std::size_t place = 0; place < conditions.size(); ++place) {
      // The order changes from turn to turn, so that a drift of the machine cancels.
      const std::size_t i = turn % 2 == 0 ? place : conditions.size() - 1 - place;
      progress.step(conditions[i].name);
      FAIRGV_CHECK(next.take(conditions[i], waits[i]));
    }
  }
  Findings found{"condition,p50_us,p90_us,p95_us,p99_us,max_us,slice_us,load", {}};
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const auto wait = [&](double percent) { return percentile(waits[i].us, percent); };
    const auto load = load_of(conditions[i], waits[i], settings.devices);
    progress.print_row(fmt::format("{:<20} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f} {:>9}",
                                   conditions[i].name, wait(50), wait(90), wait(95), wait(99), wait(100),
                                   slice_us, load ? fmt::format("{:.3f}", *load) : "-"));
    found.rows.push_back(fmt::format("{},{:.1f},{:.1f},{:.1f},{:.1f},{:.1f},{:.0f},{}", conditions[i].name,
                                     wait(50), wait(90), wait(95), wait(99), wait(100), slice_us,
                                     load ? fmt::format("{:.4f}", *load) : ""));
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
  declare_devices(experiment, settings.devices);
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"latency", run};

}  // namespace
}  // namespace fairgv::bench::latency_experiment
