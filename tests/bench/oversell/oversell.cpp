// fairgv bench oversell: how busy a device is, and for how much of the time services are below their targets,
// when it is sold by what tenants use and need (gOver, figures 7 and 8), and when it is sold so many times
// whatever they do.
//
// The customers are programs in the manner of the paper's: `gears` has short frames and rests; `scenes`
// alternates between light and heavy scenes; `plot` renders as fast as it may. Each comes with a target of
// frames per second, and wants as large a part of the device as that needs in its heaviest scene, and some
// more. By what tenants use, a customer comes every few seconds, and goes away if it is refused; the first
// two want half of the device each. By a fixed ratio, all customers have half of the device, and as many as
// the ratio allows have come before the run begins.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench::oversell_experiment {
namespace {

using namespace harness;

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Settings {
  double seconds = 90;
  double between = 4;  // customers
  double draw_ms = 0.5;
  std::uint64_t seed = 1;
  std::vector<double> ratios{1.5, 2, 3};
};

struct Kind {
  const char* name;
  int draws;        // of a frame
  int heavy_draws;  // the same in a heavy scene
  int pause_ms;
  double target;       // frames per second
  int wanted_percent;  // of the device
};

/// In the heaviest scenes, with draws of 0.5 ms, the targets need 5, 24 and 24 % of the device.
constexpr Kind kKinds[] = {
    {"gears", 4, 4, 20, 25, 15},
    {"scenes", 12, 32, 10, 15, 40},
    {"plot", 24, 24, 0, 20, 40},
};

/// The sum over all tenants between two looks at the daemon.
struct Look {
  double device_s = 0;
  double broken_s = 0;
  double tenants = 0;
  double bought = 0;
};

Result<Look> look_at_customers(const Tenancy& tenancy) {
  FAIRGV_TRY(report, look_at(tenancy));
  Look look;
  for (const auto& tenant : report.value()["tenants"]) {
    const auto& use = tenant["use"][0];
    look.device_s += use["device_time_ns"].get<double>() / 1e9;
    if (use["holding"].is_null()) continue;
    look.broken_s += use["holding"]["broken_seconds"].get<double>();
    look.bought += use["holding"]["bought"].get<double>();
    look.tenants += 1;
  }
  return look;
}

/// Iterations of a draw that takes settings.draw_ms on the driver alone.
Result<std::uint64_t> iterations_of_a_draw(const Settings& settings, const Placement& placement) {
  // So many that the time between launches does not count.
  constexpr int kFrames = 40;
  constexpr int kDraws = 16;
  constexpr int kIterations = 50'000;
  auto child = Child::start(bare({beside("opencl_frames"), std::to_string(kFrames),
                                  std::to_string(kIterations), "0", std::to_string(kDraws)},
                                 placement));
  if (!child) return child.error();
  while (!child->ended()) {
    for (const std::string& line : child->read_lines()) {
      const auto told = parse_line(line);
      if (told.is_object() && told.value("rounds", 0) == kFrames)
        return static_cast<std::uint64_t>(kIterations * kDraws * settings.draw_ms /
                                          (1e3 * told.value("frame_s", 1.0)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return Error{"opencl_frames ended without a result"};
}

/// The configuration of all customers: their units, targets, and what they want.
std::string tables_of(const std::vector<const Kind*>& customers, bool halves) {
  std::string text;
  for (std::size_t i = 0; i < customers.size(); ++i) {
    const int wanted = halves || i < 2 ? 50 : customers[i]->wanted_percent;
    text += fmt::format("[tenant.\"{}{}\"]\nmax = \"{}%\"\nunits = \"marks:frame\"\ntarget = {}\n",
                        customers[i]->name, i, wanted, customers[i]->target);
  }
  return text;
}

CommandLine program_of(const Tenancy& tenancy, std::size_t customer, const Kind& kind,
                       std::uint64_t iterations) {
  return tenancy.tenant(
      fmt::format("{}{}", kind.name, customer), 1,
      {beside("opencl_frames"), "0", std::to_string(iterations), std::to_string(kind.pause_ms),
       std::to_string(kind.draws), std::to_string(kind.heavy_draws)});
}

struct System {
  std::string name;
  std::optional<double> ratio{};  // none: by what tenants use and need
};

struct Outcome {
  std::string system;
  double utilisation = 0;  // of the device
  double broken = 0;       // part of the tenants' seconds
  double tenants = 0;      // at the end
  double overbooking = 0;
};

Result<Outcome> run_system(const Settings& settings, const System& system, std::uint64_t iterations,
                           const Placement& placement) {
  std::mt19937_64 random(settings.seed);
  const std::size_t most = system.ratio ? static_cast<std::size_t>(2 * *system.ratio)
                                        : static_cast<std::size_t>(settings.seconds / settings.between) + 2;
  std::vector<const Kind*> customers;
  for (std::size_t i = 0; i < most; ++i) customers.push_back(&kKinds[(random() >> 8) % std::size(kKinds)]);
  std::string device = "policy = \"cap\"\nslice_ms = 1\noversell = true\n";
  if (system.ratio) device += fmt::format("oversell_ratio = {}\n", *system.ratio);
  FAIRGV_TRY(tenancy, Tenancy::start(placement, {}, device + tables_of(customers, system.ratio.has_value())));
  std::vector<Child> programs;
  const auto come = [&]() -> Result<void> {
    const std::size_t next = programs.size();
    auto child = Child::start(program_of(tenancy.value(), next, *customers[next], iterations));
    if (!child) return child.error();
    programs.push_back(std::move(child).value());
    return {};
  };
  const std::size_t at_first = system.ratio ? most : 2;
  while (programs.size() < at_first) FAIRGV_CHECK(come());
  for (std::size_t i = 0; i < programs.size(); ++i)
    FAIRGV_CHECK(await_output(programs[i], customers[i]->name));
  FAIRGV_TRY(before, look_at_customers(tenancy.value()));
  const auto began = Clock::now();
  double tenant_seconds = 0;
  double tenants = 0;
  for (int second = 1; second <= static_cast<int>(settings.seconds); ++second) {
    std::this_thread::sleep_until(began + std::chrono::seconds(second));
    if (programs.size() < most && second % std::max(1, static_cast<int>(settings.between)) == 0)
      FAIRGV_CHECK(come());
    for (Child& program : programs) (void)program.read_lines();
    FAIRGV_TRY(now, look_at_customers(tenancy.value()));
    tenants = now->tenants;
    tenant_seconds += tenants;
  }
  FAIRGV_TRY(after, look_at_customers(tenancy.value()));
  const double passed = Seconds(Clock::now() - began).count();
  if (tenant_seconds == 0) return Error{"no program has run"};
  return Outcome{system.name, (after->device_s - before->device_s) / passed,
                 (after->broken_s - before->broken_s) / tenant_seconds, tenants, after->bought};
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(iterations, iterations_of_a_draw(settings, placement));
  std::vector<System> systems{{"by use and need", {}}};
  for (const double ratio : settings.ratios)
    systems.push_back({fmt::format("sold {:g} times", ratio), ratio});
  fmt::print("{:<18}{:>12}{:>10}{:>10}{:>12}\n", "", "utilisation", "broken", "tenants", "sold");
  Findings found{"system,utilisation,broken,tenants,overbooking", {}};
  for (const System& system : systems) {
    FAIRGV_TRY(outcome, run_system(settings, system, iterations.value(), placement));
    fmt::print("{:<18}{:>11.1f} %{:>8.2f} %{:>9.0f}{:>12.2f}\n", outcome->system, 100 * outcome->utilisation,
               100 * outcome->broken, outcome->tenants, outcome->overbooking);
    std::fflush(stdout);
    found.rows.push_back(fmt::format("{},{:.4f},{:.4f},{:.0f},{:.3f}", outcome->system, outcome->utilisation,
                                     outcome->broken, outcome->tenants, outcome->overbooking));
  }
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment("oversell",
                        "How busy an oversold device is, and how often services miss their targets");
  Settings settings;
  experiment.setting("--seconds", settings.seconds, 5, "Length of each run")->check(CLI::Range(2.0, 3'600.0));
  experiment.setting("--between", settings.between, 2, "Seconds from one customer to the next")
      ->check(CLI::Range(1.0, 600.0));
  experiment.options()
      .add_option("--draw-ms", settings.draw_ms, "Device time of a draw, of which frames have many")
      ->check(CLI::Range(0.05, 20.0));
  experiment.options().add_option("--seed", settings.seed, "The same seed, the same customers");
  experiment.setting("--ratios", settings.ratios, {1.5}, "How many times the device is sold without looking")
      ->delimiter(',')
      ->check(CLI::Range(1.0, 10.0));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"oversell", run};

}  // namespace
}  // namespace fairgv::bench::oversell_experiment
