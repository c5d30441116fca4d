// The base of `aug-credit` and `cosched`: Algorithm 2 of Pegasus (section 4.2), in which the host's
// scheduler says whose programs have the processors next, and the accelerator's scheduler decides anew for
// every tick.
//
// Chosen here:
// - The paper picks the tenant with the highest X, its credits, and does not say how credits are used up.
//   If they were not, one tenant would always be picked. Here X is what is left of the tenant's credits in
//   this round: slice * X / Xmin by the weights, from which every tick that the tenant gets is subtracted
//   when it begins. Xmin is the smallest of the tenants that have something to run. A round ends when none
//   of the tenants that could be picked has credits left. Then each gets its credits again, up to the
//   credits of one round. A tenant that has nothing to run for at most 30 ms counts as one that has.
// - Among equals the tenant that was served longest ago goes first.
// - A schedule of the host (HostState) holds until host() says otherwise, at most for 30 ms, Xen's period.
//   After that, and if nobody ever calls host(), no tenant counts as scheduled: both policies are then
//   credit scheduling in proportion to the weights, and credits alone decide.
//
// budget() has the credits left in `reserve.left`; restore() takes them over, within the credits of a
// round of all tenants that are known by then. O(n) per tick, as the loops of Algorithm 2.
#pragma once

#include <map>

#include "sched/policies/pegasus/polled.hpp"

namespace fairgv::sched {

class CoordinatedPolicy : public PolledPolicy {
 public:
  /// A schedule of the host is for this long.
  static constexpr Duration kHostPeriod = std::chrono::milliseconds(30);
  /// Xen's scheduler samples its processors this often.
  static constexpr Duration kHostTick = std::chrono::milliseconds(10);

  using PolledPolicy::PolledPolicy;

  HostInterest host_interest() const override { return {kHostTick, true}; }
  void host(TenantId id, const HostState& state, Time now) override;
  TenantBudget budget(TenantId id, Time now) const override;
  void restore(TenantId id, const TenantBudget& budget, Time now) override;

  /// The rest of the tenant's credits, for display and tests; throws std::out_of_range for an unknown
  /// tenant.
  Duration left_of(TenantId id) const { return members_.at(id).left; }

 protected:
  struct Member {
    std::uint32_t credits = 1;
    Duration left{0};
    std::uint64_t served = 0;  // the order of the last ticks
    HostState host{};
    Time told{};
    Time ready_until{};  // while it has nothing to run
  };

  /// Whether its schedule holds.
  static bool scheduled(const Member& member, Time now) {
    return member.host.scheduled && now - member.told <= kHostPeriod;
  }

  void described(TenantId id, const TenantAttributes& attributes) override;
  void forgotten(TenantId id) override;
  void joined(TenantId id, Time now) override;
  void left(TenantId id, Time now) override;
  Duration turn_length(TenantId id, Time now) const override;
  void began(TenantId id, Duration length, Time now) override;

  /// Whether tenants that the host has not scheduled are picked only if none that it has is ready.
  virtual bool scheduled_only() const = 0;
  /// The runnable tenant for which `rank`, a pair or a number, is highest. Precondition: there is one.
  template <typename Rank>
  TenantId highest(const Rank& rank) const {
    const std::pair<const TenantId, Member>* best = nullptr;
    for (const auto& each : members_) {
      if (!runnable(each.first)) continue;
      if (best == nullptr || rank(each.second) > rank(best->second) ||
          (rank(each.second) == rank(best->second) && each.second.served < best->second.served)) {
        best = &each;
      }
    }
    return best->first;
  }

 private:
  void refill_if_used_up(Time now);

  std::map<TenantId, Member> members_;
  std::uint64_t serves_ = 0;
};

}  // namespace fairgv::sched
