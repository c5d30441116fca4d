#include "tests/bench/support/pairs.hpp"

#include <fmt/core.h>

#include <utility>

#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/devices.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/time_in_use.hpp"

namespace fairgv::bench {
namespace {

/// About as many as fit the time ahead of a window.
constexpr int kTurnsAfterTheLast = 10;

Window window_of_device(const Window& all, std::size_t device, std::size_t devices) {
  return {bench::of_device(all.before, device, devices), bench::of_device(all.together, device, devices),
          bench::of_device(all.after, device, devices)};
}

}  // namespace

void declare_pairs(Experiment& experiment, PairSettings& settings) {
  experiment.setting("--seconds", settings.seconds, 0.5, "Length of each window side by side")
      ->check(CLI::Range(0.2, 600.0));
  experiment.setting("--pairs", settings.pairs, 1, "How often both sides of each ratio are measured")
      ->check(CLI::Range(1, 1'000));
}

void declare_windows(Experiment& experiment, PairSettings& settings) {
  experiment.setting("--windows", settings.windows, 1, "Windows of each pair under each policy")
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
                                     const std::vector<std::string>& policies, std::size_t programs,
                                     std::size_t cases, bool profiled) {
  const auto each = static_cast<unsigned>(programs * settings.devices);
  FAIRGV_TRY(tenancy, start_on(settings.devices, settings.configuration(), placement,
                               {numbered("tenant", each), numbered("profiled", each)}));
  return PairedRuns(placement, std::move(tenancy).value(), settings, policies,
                    cases * policies.size() *
                        static_cast<std::size_t>(settings.pairs * (settings.windows + (profiled ? 1 : 0))));
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
    FAIRGV_TRY(rivals, Rivals::start(tenancy_, placement_, together, alone, {}, settings_.devices));
    FAIRGV_TRY(windows, windows_of(what, pair, rivals.value()));
    FAIRGV_CHECK(rivals->end());
    for (const auto& [policy, of_policy] : windows.value()) {
      for (std::size_t device = 0; device < settings_.devices; ++device) {
        std::vector<Window>& here = result[policy].emplace_back();
        for (const Window& window : of_policy)
          here.push_back(window_of_device(window, device, settings_.devices));
      }
    }
  }
  return result;
}

Result<std::map<std::string, std::vector<double>>> PairedRuns::measure_in_use(
    const std::string& what, const Program& alone, const std::vector<Program>& together, double seconds) {
  std::map<std::string, std::vector<double>> result;
  for (int pair = 0; pair < settings_.pairs; ++pair) {
    for (const std::string& policy : policies_) {
      progress_->step(fmt::format("{}, {}, in use", what, policy));
      FAIRGV_CHECK(tenancy_.set_policy(policy));
      FAIRGV_TRY(by_itself, part_in_use_alone(placement_, alone, settings_.devices, seconds));
      FAIRGV_TRY(shared, part_in_use_together(tenancy_, together, settings_.devices, seconds));
      for (std::size_t device = 0; device < settings_.devices; ++device) {
        if (by_itself.value()[device] <= 0) return Error{alone.front() + " left no timestamps"};
        result[policy].push_back(shared.value()[device] / by_itself.value()[device]);
      }
    }
  }
  return result;
}

Result<std::map<std::string, std::vector<Window>>> PairedRuns::windows_of(const std::string& what, int pair,
                                                                          Rivals& rivals) {
  std::map<std::string, std::vector<Window>> by_policy;
  Window* last = nullptr;  // its turns after it are those before the next
  for (int window = 0; window < settings_.windows; ++window) {
    for (std::size_t turn = 0; turn < policies_.size(); ++turn) {
      // The program that goes first changes from window to window.
      const std::size_t first = static_cast<std::size_t>(pair + window);
      const std::string& policy = policies_[(first + turn) % policies_.size()];
      progress_->step(fmt::format("{}, {}", what, policy));
      FAIRGV_CHECK(tenancy_.set_policy(policy));
      FAIRGV_TRY(sides, rivals.turns_and_window(settings_.seconds));
      if (last != nullptr) last->after = sides->before.on_driver;
      std::vector<Window>& of_policy = by_policy[policy];
      of_policy.push_back({std::move(sides->before.on_driver), std::move(sides->together), {}});
      last = &of_policy.back();
    }
  }
  FAIRGV_TRY(after, rivals.take_turns(kTurnsAfterTheLast, Rivals::Who::on_driver));
  if (last != nullptr) last->after = std::move(after->on_driver);
  return by_policy;
}

}  // namespace fairgv::bench
