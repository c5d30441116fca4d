#include "tools/fairgv/sim/sim_place.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "runtime/base/near_word.hpp"
#include "sched/simulator/placement_run.hpp"
#include "tools/fairgv/command.hpp"

namespace fairgv::tools {
namespace {

constexpr std::pair<const char*, sched::Placement> kPlacements[] = {
    {"best", sched::Placement::best},
    {"first-fit", sched::Placement::first_fit},
    {"round-robin", sched::Placement::round_robin}};

/// Every tenant has a program prepared for each device: so many programs take some hundred MiB.
constexpr std::size_t kMostPrograms = 1'000'000;

std::optional<sched::Placement> placement_named(const std::string& name) {
  for (const auto& [known, placement] : kPlacements) {
    if (name == known) return placement;
  }
  return std::nullopt;
}

std::size_t tenants_in(const sched::SimulationSettings& settings) {
  std::size_t tenants = 0;
  for (const sched::TenantSpec& kind : settings.kinds) tenants += kind.count;
  return tenants;
}

/// What is wrong with the options; empty: nothing.
std::string mistake_in(const sched::SimulationSettings& settings, const PlaceOptions& options) {
  for (const std::string& name : options.placements) {
    if (!placement_named(name)) {
      return "there is no placement '" + name + "': " + guess_and_list(name, placement_names());
    }
  }
  if (!options.speeds.empty() && options.speeds.size() != settings.devices) {
    return fmt::format("--speed names {} devices of {}: name each, or none", options.speeds.size(),
                       settings.devices);
  }
  if (tenants_in(settings) * settings.devices > kMostPrograms) {
    return fmt::format("--place takes at most {} tenants times devices: there are {} times {}", kMostPrograms,
                       tenants_in(settings), settings.devices);
  }
  const auto several = [](const sched::TenantSpec& kind) { return kind.sessions != 1; };
  if (std::any_of(settings.kinds.begin(), settings.kinds.end(), several))
    return "with --place every tenant has one session: leave sessions out of --tenant";
  return {};
}

sched::PlacementSettings settings_for(const sched::SimulationSettings& settings,
                                      const PlaceOptions& options) {
  sched::PlacementSettings run;
  for (std::size_t device = 0; device < settings.devices; ++device)
    run.devices.push_back({.speed = options.speeds.empty() ? 1 : options.speeds[device]});
  // They come in the first tenth, in their order.
  for (const sched::TenantSpec& kind : settings.kinds)
    run.kinds.push_back({.spec = kind, .within = settings.length / 10});
  run.slices = settings.slices;
  run.length = settings.length;
  run.measured_from = settings.length / 2;
  run.seed = settings.seed;
  return run;
}

nlohmann::json json_of(const sched::PlacementSettings& settings, const std::string& placement,
                       const sched::PlacementOutcome& outcome) {
  return {{"policy", settings.policy},
          {"placement", placement},
          {"tenants", outcome.tenants.size()},
          {"refused", outcome.refused()},
          {"sum_of_shares", outcome.sum_of_shares()},
          {"min_max_ratio", outcome.min_max_ratio(settings)},
          {"tenants_by_device", outcome.by_device},
          {"busy", outcome.busy}};
}

}  // namespace

std::string placement_names() {
  std::string names;
  for (const auto& [name, placement] : kPlacements) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

int place(const sched::SimulationSettings& settings, const std::vector<std::string>& policies,
          const PlaceOptions& options) {
  if (const std::string mistake = mistake_in(settings, options); !mistake.empty())
    return fail("sim", mistake, kMisused);
  nlohmann::json runs = nlohmann::json::array();
  if (!options.json) {
    fmt::print("{:<16} {:<12} {:>8} {:>10} {:>8}  {}\n", "policy", "placement", "shares", "least/most",
               "busy", "tenants by device");
  }
  for (const std::string& policy : policies) {
    for (const std::string& name : options.placements) {
      sched::PlacementSettings run = settings_for(settings, options);
      run.policy = policy;
      run.placement = *placement_named(name);
      const sched::PlacementOutcome outcome = run_placement(run);
      if (options.json) {
        runs.push_back(json_of(run, name, outcome));
        continue;
      }
      double busy = 0;
      for (const double each : outcome.busy) busy += each;
      fmt::print("{:<16} {:<12} {:>8.3f} {:>10.3f} {:>7.1f}%  {}\n", policy, name, outcome.sum_of_shares(),
                 outcome.min_max_ratio(run), 100 * busy / static_cast<double>(outcome.busy.size()),
                 fmt::join(outcome.by_device, " "));
    }
  }
  if (options.json) fmt::print("{}\n", runs.dump(2));
  return 0;
}

}  // namespace fairgv::tools
