// Tenants that each have their sessions on one device of several, in the simulator: tenants come and leave
// while the run goes on, and a placement says which device a newcomer gets. It stays there.
//
// The devices are shared by the daemon's own policy objects. `best` is DeviceChoice, which hears once in a
// second what each tenant has used. The others are for comparison: `round_robin` is Pegasus' baseline (None,
// section 4.1); `first_fit` is what programs do that take the first device they find.
//
// Simplified: a kernel takes the same time on every device, and does more work on a faster one. A program
// that always has more comes back at once after a burst of some 20 ms, since a session can leave only
// between bursts; one that leaves ends its burst first. Workers spin for 50 us before they give a turn back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sched/choice/device_profile.hpp"
#include "sched/policies/registry.hpp"
#include "sched/simulator/program.hpp"
#include "sched/slice_rule.hpp"

namespace fairgv::sched {

enum class Placement { first_fit, round_robin, best };

struct PlacementKind {
  /// `count` tenants with one session each. The first comes after `arrives`.
  TenantSpec spec{};
  std::uint64_t memory = 0;  // bytes of a device, from its arrival until it leaves
  Duration within{0};        // all of them come within so long, at even distances
  Duration stays{0};         // half as long to one and a half times as long; 0: until the end
};

struct PlacementSettings {
  std::string policy{kDefaultPolicy};
  Placement placement = Placement::best;
  std::vector<DeviceProfile> devices;
  /// Room for as many tenants of a kind as a device's memory allows is made beforehand: many tenants on many
  /// devices need a `memory`.
  std::vector<PlacementKind> kinds;
  SliceRule slices = kAdaptiveSlice;
  Duration length = std::chrono::seconds(10);
  Duration measured_from = std::chrono::seconds(5);  // to the end: the window that outcomes are of
  std::uint64_t seed = 1;
};

struct PlacedTenant {
  std::size_t kind = 0;
  std::optional<std::uint32_t> device{};  // none: no device could take it
  bool whole_window = false;              // was here from the window's beginning to the end
  Duration used{0};                       // in the window
  double share = 0;  // of the window, on the fastest device: half of a device of half the speed is a quarter
};

struct PlacementOutcome {
  std::vector<PlacedTenant> tenants;       // in the order of the kinds
  std::vector<std::uint32_t> by_device{};  // tenants at the end
  std::vector<double> busy{};              // part of the window, by device

  double sum_of_shares() const;
  std::size_t refused() const;
  /// Of the shares per weight of tenants that always wanted the device in the whole window, the least over
  /// the greatest. 1: all are exact; 1, too, without such tenants.
  double min_max_ratio(const PlacementSettings& settings) const;
};

/// Throws std::invalid_argument for an unknown policy or an invalid weight.
PlacementOutcome run_placement(const PlacementSettings& settings);

}  // namespace fairgv::sched
