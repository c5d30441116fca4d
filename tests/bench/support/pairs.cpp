#include "tests/bench/support/pairs.hpp"

#include <fmt/core.h>

#include <utility>

#include "tests/bench/support/command_line.hpp"

namespace fairgv::bench {

void declare_pairs(Experiment& experiment, PairSettings& settings) {
  experiment.setting("--seconds", settings.seconds, 0.5, "Length of each window side by side")
      ->check(CLI::Range(0.2, 600.0));
  experiment.setting("--pairs", settings.pairs, 1, "How often both sides of each ratio are measured")
      ->check(CLI::Range(1, 1'000));
}

void declare_turns(Experiment& experiment, PairSettings& settings) {
  experiment.setting("--turns", settings.turns, 1, "Turns of each program by itself between two windows")
      ->check(CLI::Range(1, 1'000));
}

void declare_discipline(Experiment& experiment, PairSettings& settings) {
  experiment.options()
      .add_option("--discipline", settings.discipline, "The device's: slices of 1.5 to 15 ms, of 6, or of 30")
      ->check(CLI::IsMember({"adaptive", "non-preemptive", "preemptive"}));
}

void declare_policies(Experiment& experiment, std::vector<std::string>& policies) {
  experiment.options()
      .add_option("--policies", policies, "Scheduling policies to compare")
      ->delimiter(',')
      ->check(known_policy);
}

Result<PairedRuns> PairedRuns::start(const harness::Placement& placement, const PairSettings& settings,
                                     const std::vector<std::string>& policies, std::size_t cases) {
  auto tenancy = harness::Tenancy::start(placement, {}, settings.configuration());
  if (!tenancy) return tenancy.error();
  return PairedRuns(placement, std::move(tenancy).value(), settings, policies,
                    cases * policies.size() * static_cast<std::size_t>(settings.pairs));
}

PairedRuns::PairedRuns(harness::Placement placement, harness::Tenancy tenancy, const PairSettings& settings,
                       const std::vector<std::string>& policies, std::size_t steps)
    : placement_(std::move(placement)),
      tenancy_(std::move(tenancy)),
      settings_(settings),
      policies_(policies),
      progress_(std::make_unique<ProgressLine>(steps)) {}

Result<PairsByPolicy> PairedRuns::measure(const std::string& what, const std::vector<Program>& alone,
                                          const std::vector<Program>& together) {
  PairsByPolicy result;
  for (int pair = 0; pair < settings_.pairs; ++pair) {
    auto rivals = Rivals::start(tenancy_, placement_, together, alone);
    if (!rivals) return rivals.error();
    const auto by_themselves = [&] { return rivals->take_turns(settings_.turns, Rivals::Who::on_driver); };
    auto before = by_themselves();
    if (!before) return before.error();
    for (std::size_t turn = 0; turn < policies_.size(); ++turn) {
      // What goes first changes from pair to pair.
      const std::string& policy = policies_[(turn + static_cast<std::size_t>(pair)) % policies_.size()];
      progress_->step(fmt::format("{}, {}", what, policy));
      if (auto set = tenancy_.set_policy(policy); !set) return set.error();
      auto side_by_side = rivals->together(settings_.seconds);
      if (!side_by_side) return side_by_side.error();
      auto after = by_themselves();
      if (!after) return after.error();
      result[policy].push_back(
          {mean_of(before.value(), after.value()).on_driver, std::move(side_by_side).value()});
      before = std::move(after);
    }
    if (auto ended = rivals->end(); !ended) return ended.error();
  }
  return result;
}

}  // namespace fairgv::bench
