#include "tests/bench/support/pairs.hpp"

#include <fmt/core.h>

#include "tests/bench/support/command_line.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {

using namespace harness;

namespace {

// Long enough for two programs to start, compile, verify and warm up side by side.
constexpr double kLeadSeconds = 4;

Program with(Program program, const std::string& option, double value) {
  program.insert(program.end(), {option, fmt::format("{:.3f}", value)});
  return program;
}

}  // namespace

void declare_pairs(CLI::App& app, PairSettings& settings) {
  app.add_option("--policies", settings.policies, "Scheduling policies to compare")
      ->delimiter(',')
      ->check(known_policy);
  auto* seconds =
      app.add_option("--seconds", settings.seconds, "Length of each run")->check(CLI::Range(0.2, 600.0));
  auto* pairs = app.add_option("--pairs", settings.pairs, "Runs of each kind, alone and side by side")
                    ->check(CLI::Range(1, 1'000));
  app.add_flag("--quick", settings.quick, "Short runs, to see that it works: the figures mean nothing")
      ->excludes(seconds)
      ->excludes(pairs);
  declare_device_cores(app, settings.device_cores);
  declare_output(app, settings.output);
}

void settle(PairSettings& settings) {
  if (!settings.quick) return;
  settings.seconds = 0.5;
  settings.pairs = 1;
}

Result<PairedRuns> PairedRuns::start(const PairSettings& settings, std::size_t cases,
                                     std::size_t programs_alone) {
  auto placement = placement_of(settings.device_cores);
  if (!placement) return placement.error();
  auto tenancy = Tenancy::start(placement.value());
  if (!tenancy) return tenancy.error();
  const std::size_t runs = programs_alone + settings.policies.size();
  return PairedRuns(settings, std::move(placement).value(), std::move(tenancy).value(),
                    cases * runs * static_cast<std::size_t>(settings.pairs));
}

PairedRuns::PairedRuns(const PairSettings& settings, Placement placement, Tenancy tenancy, std::size_t steps)
    : settings_(settings),
      placement_(std::move(placement)),
      tenancy_(std::move(tenancy)),
      progress_(std::make_unique<ProgressLine>(steps)) {}

Result<PairsByPolicy> PairedRuns::measure(const std::string& what, const std::vector<Program>& alone,
                                          const std::vector<Program>& together) {
  PairsByPolicy result;
  const std::size_t policies = settings_.policies.size();
  for (int pair = 0; pair < settings_.pairs; ++pair) {
    std::vector<double> by_themselves;
    std::map<std::string, std::vector<double>> side_by_side;
    // What goes first changes from pair to pair, so that a drift of the machine cancels.
    for (std::size_t turn = 0; turn <= policies; ++turn) {
      const std::size_t which = (turn + static_cast<std::size_t>(pair)) % (policies + 1);
      auto throughputs = which == policies ? run_alone(what, alone)
                                           : run_together(what, settings_.policies[which], together);
      if (!throughputs) return throughputs.error();
      (which == policies ? by_themselves : side_by_side[settings_.policies[which]]) =
          std::move(throughputs).value();
    }
    for (auto& [policy, throughputs] : side_by_side) {
      result[policy].push_back({by_themselves, std::move(throughputs)});
    }
  }
  return result;
}

Result<std::vector<double>> PairedRuns::run_alone(const std::string& what,
                                                  const std::vector<Program>& programs) {
  std::vector<double> throughputs;
  for (const Program& program : programs) {
    progress_->step(what + ", alone");
    const auto result = run_measured(bare(with(program, "--seconds", settings_.seconds), placement_));
    if (!result) return result.error();
    throughputs.push_back(result.value()["throughput"]);
  }
  return throughputs;
}

Result<std::vector<double>> PairedRuns::run_together(const std::string& what, const std::string& policy,
                                                     const std::vector<Program>& programs) {
  progress_->step(fmt::format("{}, {}", what, policy));
  if (auto set = tenancy_.set_policy(policy); !set) return set.error();
  const double start = monotonic_seconds() + kLeadSeconds;
  std::vector<CommandLine> commands;
  std::vector<Child> running;
  for (const Program& program : programs) {
    const auto windowed = with(with(program, "--seconds", settings_.seconds), "--start-at", start);
    commands.push_back(tenancy_.tenant(fmt::format("tenant{}", commands.size() + 1), 1, windowed));
    auto child = Child::start(commands.back());
    if (!child) return child.error();
    running.push_back(std::move(child).value());
  }
  std::vector<double> throughputs;
  for (std::size_t i = 0; i < running.size(); ++i) {
    const auto result = result_of(commands[i], finish(std::move(running[i])));
    if (!result) return result.error();
    throughputs.push_back(result.value()["throughput"]);
  }
  return throughputs;
}

}  // namespace fairgv::bench
