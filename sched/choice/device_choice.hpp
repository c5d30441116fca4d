// Decides on which device a tenant's next session runs: Pegasus' PickAccelerator (section 3.2, algorithm 1).
// The daemon calls it when a session is ready (daemon/sessions/placements.hpp), and the simulator's placement
// run.
//
// The answer is the device that is worth most to the tenant (accelerator_weight.hpp), among those that suit
// it, that have the memory which it is expected to need, and on which its guarantee may be promised. Among
// equals the one with more bandwidth is chosen, then the one with the smaller number.
//
// Chosen here:
// - A session of a tenant that has k sessions on a device already has a (k + 1)-th of the tenant's share
//   there. So a tenant's sessions spread. (In Pegasus a domain has one accelerator.)
// - Memory that a tenant is expected to need counts from its placement on, and what it holds if that is more.
// - Memory decides only whether there is enough of it: many tenants that need little time may fill that of
//   one device, and then nobody else finds room there.
// - Nothing moves: a session stays until it leaves. Bounds below are for that.
//
// Greedy placement. Let D devices suit and have room, without batch tenants, and no tenant have a ceiling.
// All of this is but for rounding.
//
// (a) Equal tenants without guarantees, one session each, none of them measured, on equal devices, while none
//     leaves: their numbers differ by at most one. Proof. The share falls with the number there, so each
//     comes to a device with the smallest number m, which becomes m + 1; none was above m + 1 before. QED
// (b) Let a newcomer have no guarantee. Let s be a device's speed times 1 - P, S the sum of these over D, r
//     the largest of them over their mean, and W the weight of the others there. Were the newcomer divisible
//     among the devices, as all the others, it would have x = min(largest s, S w / (W + w)): its fair part,
//     but no more than one device at a time. The device that it gets is worth v >= x / (1 + r) to it: on
//     equal devices at least half of the best fractional placement. Proof. v is at least each s w / (W_d +
//     w), hence at least the sum of all s w over the sum of all (W_d + w), S w / (W + D w). So
//     1 / v <= W / (S w) + D / S <= 1 / x + r / x. QED
//     It depends on r because one fast device may be full while all slow ones are empty.
// (c) Without guarantees, one session each, on equal devices, while none leaves and none is measured: no
//     device has more weight than W / D and the largest weight. So a tenant's entitlement is always at least
//     w / (W / D + largest w). Proof. Before its last tenant came, a device had the least weight, which is at
//     most the mean. QED
// After tenants have left, numbers may differ by more, and only newcomers mend that. choose() says what a
// session would have elsewhere.
//
// Pure logic, not thread-safe. A change is O(log n) for n devices. choose() walks the queue until no later
// device can be better: from one device (different loads) to n (the same load everywhere); each O(1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sched/choice/accelerator_queue.hpp"
#include "sched/choice/accelerator_weight.hpp"
#include "sched/choice/tenant_profile.hpp"

namespace fairgv::sched {

/// A device that suits the tenant and cannot take it.
struct DeviceRefusal {
  enum class Reason { memory, guarantee };

  std::uint32_t device = 0;
  Reason reason = Reason::memory;
  std::uint64_t wanted = 0;  // bytes, or ppm
  std::uint64_t left = 0;
  std::uint64_t of = 0;

  /// "memory: 1.2 GiB of 2 GiB left"
  std::string why() const;
  friend bool operator==(const DeviceRefusal&, const DeviceRefusal&) = default;
};

class DeviceChoice {
 public:
  using Device = std::uint32_t;

  struct Answer {
    std::optional<Device> device{};  // none: no device can take it
    ExpectedShare expected{};        // the tenant's, there
    std::uint64_t weight = 0;        // the accelerator weight, in units of 2^-40 of the speed
    /// Devices that were better and cannot take it; all that suit, if there is no device.
    std::vector<DeviceRefusal> refused{};
  };

  // -- devices

  /// Numbers are given in order, from 0 on.
  Device add(const DeviceProfile& profile);
  std::size_t size() const { return devices_.size(); }
  const DeviceProfile& profile(Device device) const { return devices_[device].profile; }
  const DeviceLoad& load(Device device) const { return devices_[device].load; }
  /// Bytes of the device that tenants cannot have.
  void set_elsewhere(Device device, std::uint64_t bytes);
  /// Part of the device that is promised to tenants which have no session there: nobody else can have it
  /// promised, and it counts in no share.
  void set_promised_elsewhere(Device device, Share share);

  // -- tenants

  /// One more session of the tenant is on the device. Throws std::invalid_argument for an invalid weight.
  void place(Device device, TenantId id, const TenantProfile& profile);
  /// One session fewer. Nothing happens if there is none.
  void leave(Device device, TenantId id);
  /// The tenant has another profile, on all its devices. What was measured of its use holds no longer.
  void set_profile(TenantId id, const TenantProfile& profile);
  /// The tenant's use of a device where it has sessions; else nothing happens.
  void measured(Device device, TenantId id, const TenantUse& use);
  /// Devices on which the tenant has sessions, in no order.
  std::span<const Device> devices_of(TenantId id) const;

  // -- answers

  /// The device for one more session of the tenant.
  Answer choose(TenantId id, const TenantProfile& profile) const;
  /// The share that the tenant has, or would have, on the device.
  ExpectedShare expected(Device device, TenantId id, const TenantAttributes& attributes) const;
  /// The accelerator weight for one more session of the tenant.
  std::uint64_t weight(Device device, TenantId id, const TenantAttributes& attributes) const;
  /// Why the device cannot take one more session of the tenant; none: it can.
  std::optional<DeviceRefusal> refusal(Device device, TenantId id, const TenantProfile& profile) const;

 private:
  /// The load that one tenant adds to a device.
  struct Claim {
    TenantAttributes attributes{};
    std::uint64_t expected_memory = 0;
    std::uint64_t held_memory = 0;
    std::uint32_t sessions = 0;
    std::uint64_t used_ppm = 0;
    std::optional<std::uint64_t> content_ppm{};  // none: hungry
  };
  struct DeviceState {
    DeviceProfile profile;
    DeviceLoad load{};
    Share promised_elsewhere{};
    std::unordered_map<TenantId, Claim> claims{};
  };
  class Walk;

  static void count(DeviceLoad& load, const Claim& claim);
  static void discount(DeviceLoad& load, const Claim& claim);
  static void classify(const DeviceLoad& others, Claim& claim, const std::optional<Share>& use);
  const Claim* find(Device device, TenantId id) const;
  DeviceLoad without(Device device, TenantId id) const;
  void line_up(Device device);

  std::vector<DeviceState> devices_;
  AcceleratorQueue queue_;  // by the weight for a tenant of weight 1 without promises
  std::unordered_map<TenantId, std::vector<Device>> places_;
  std::uint64_t most_speed_ = 0;
};

}  // namespace fairgv::sched
