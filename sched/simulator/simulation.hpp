// Policies under a simulated clock: synthetic tenants on several devices, repeated exactly by a seed.
//
// The policy objects are the daemon's own; each device has one, and every tenant has its programs on every
// device. Discrete events: an hour of thousands of tenants takes seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sched/simulator/device.hpp"
#include "sched/slice_rule.hpp"

namespace fairgv::sched {

/// The time at which programs begin. With a clock that starts at zero every tenant would look as if it had
/// just blocked.
inline constexpr Time kSimulationStart{std::chrono::hours(1)};

/// Every device gets a new policy object, which goes on from the budgets of the old one.
struct PolicyExchange {
  Duration at{0};  // after the start
  std::string policy = "fair";
};

struct SimulationSettings {
  std::string policy = "fair";
  std::vector<TenantSpec> kinds;
  std::size_t devices = 1;
  SliceRule slices = kAdaptiveSlice;
  Duration length = std::chrono::seconds(10);
  std::uint64_t seed = 1;
  std::uint64_t queue_depth = kDriverQueue;  // see SimulatedDevice::Model
  SchedulerCosts costs{};
  Duration switch_cost{0};                  // the same
  Duration spin{0};                         // the same
  HostModel host{};                         // without processors: none
  std::vector<PolicyExchange> exchanges{};  // in the order of time
};

struct SimulationResult {
  std::vector<TenantSpec> tenants;  // each by itself, in the order of the kinds
  std::vector<std::size_t> kind;    // by tenant: the index of its kind
  std::vector<double> entitled;     // by tenant: see entitled_shares()
  std::vector<DeviceOutcome> devices;
};

/// Called after every turn, for tests of invariants.
using TurnObserver = std::function<void(std::size_t device, const DeviceOutcome& outcome)>;

/// Throws std::invalid_argument for an unknown policy or an invalid weight.
SimulationResult simulate(const SimulationSettings& settings, const TurnObserver& after_turn = {});

/// The share of a device that each tenant is entitled to: its guarantee, and by weight a part of the rest,
/// but never more than its ceiling, nor than it could use alone. What it leaves goes to the others by weight
/// (sched/water_level.hpp).
std::vector<double> entitled_shares(const std::vector<TenantSpec>& tenants);

}  // namespace fairgv::sched
