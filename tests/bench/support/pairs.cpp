#include "tests/bench/support/pairs.hpp"

#include <fmt/core.h>

#include "tests/bench/support/command_line.hpp"

namespace fairgv::bench {

void declare_pairs(Experiment& experiment, PairSettings& settings) {
  experiment.setting("--seconds", settings.seconds, 0.5, "Length of each run")->check(CLI::Range(0.2, 600.0));
  experiment.setting("--pairs", settings.pairs, 1, "How often both sides of each ratio are measured")
      ->check(CLI::Range(1, 1'000));
}

void declare_policies(Experiment& experiment, std::vector<std::string>& policies) {
  experiment.options()
      .add_option("--policies", policies, "Scheduling policies to compare")
      ->delimiter(',')
      ->check(known_policy);
}

Result<PairedRuns> PairedRuns::start(const harness::Placement& placement, const PairSettings& settings,
                                     const std::vector<std::string>& policies, std::size_t cases,
                                     std::size_t programs_alone) {
  auto runs = Runs::start(placement);
  if (!runs) return runs.error();
  return PairedRuns(std::move(runs).value(), settings, policies,
                    cases * (programs_alone + policies.size()) * static_cast<std::size_t>(settings.pairs));
}

PairedRuns::PairedRuns(Runs runs, const PairSettings& settings, const std::vector<std::string>& policies,
                       std::size_t steps)
    : runs_(std::move(runs)),
      settings_(settings),
      policies_(policies),
      progress_(std::make_unique<ProgressLine>(steps)) {}

Result<PairsByPolicy> PairedRuns::measure(const std::string& what, const std::vector<Program>& alone,
                                          const std::vector<Program>& together) {
  PairsByPolicy result;
  for (int pair = 0; pair < settings_.pairs; ++pair) {
    std::vector<double> by_themselves;
    std::map<std::string, std::vector<double>> side_by_side;
    // What goes first changes from pair to pair, so that a drift of the machine cancels.
    for (std::size_t turn = 0; turn <= policies_.size(); ++turn) {
      const std::size_t which = (turn + static_cast<std::size_t>(pair)) % (policies_.size() + 1);
      if (which == policies_.size()) {
        auto throughputs = run_alone(what, alone);
        if (!throughputs) return throughputs.error();
        by_themselves = std::move(throughputs).value();
        continue;
      }
      progress_->step(fmt::format("{}, {}", what, policies_[which]));
      auto throughputs = runs_.together(policies_[which], together, settings_.seconds);
      if (!throughputs) return throughputs.error();
      side_by_side[policies_[which]] = std::move(throughputs).value();
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
    const auto throughput = runs_.alone(program, settings_.seconds);
    if (!throughput) return throughput.error();
    throughputs.push_back(throughput.value());
  }
  return throughputs;
}

}  // namespace fairgv::bench
