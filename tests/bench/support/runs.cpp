#include "tests/bench/support/runs.hpp"

#include <fmt/core.h>

#include <utility>

#include "tests/harness/measured.hpp"

namespace fairgv::bench {

using namespace harness;

namespace {

Program with(Program program, const std::string& option, double value) {
  program.insert(program.end(), {option, fmt::format("{:.3f}", value)});
  return program;
}

}  // namespace

Result<Runs> Runs::start(const Placement& placement, std::string device) {
  auto tenancy = Tenancy::start(placement, {}, std::move(device));
  if (!tenancy) return tenancy.error();
  return Runs(placement, std::move(tenancy).value());
}

Result<double> Runs::alone(const Program& program, double seconds) {
  const double start = monotonic_seconds();
  const auto result = run_measured(bare(with(program, "--seconds", seconds), placement_));
  if (!result) return result.error();
  ready_seconds_ = monotonic_seconds() - start - seconds;
  return result.value()["throughput"].get<double>();
}

/// Until all have started, compiled, verified and warmed up side by side, on as little as one core. A program
/// that is late fails, so this has only to be long enough.
double Runs::lead_seconds(std::size_t programs) const {
  return 1 + static_cast<double>(programs) * (0.5 + ready_seconds_);
}

Result<std::vector<double>> Runs::together(const std::string& policy, const std::vector<Program>& programs,
                                           double seconds, const std::vector<std::uint32_t>& weights) const {
  if (auto set = tenancy_.set_policy(policy); !set) return set.error();
  const double start = monotonic_seconds() + lead_seconds(programs.size());
  std::vector<CommandLine> commands;
  std::vector<Child> running;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const auto windowed = with(with(programs[i], "--seconds", seconds), "--start-at", start);
    commands.push_back(
        tenancy_.tenant(fmt::format("tenant{}", i + 1), i < weights.size() ? weights[i] : 1, windowed));
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
