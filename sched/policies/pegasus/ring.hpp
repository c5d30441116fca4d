// The base of `acc-credit`, `xeno-credit` and `slaf`: Algorithm 1 of Pegasus (section 4.1).
//
// A tenant has credits X. The ready queue is ordered by credits, and its head has the next turn. A turn is
// Tc ticks. A tenant that has just come gets Tc = 1, because it has no context on the accelerator yet;
// from its second turn on Tc = Tm = X / Xmin. So with credits of 1024, 512, 256 and 512 turns last for 4,
// 2, 1 and 2 ticks, as in the paper's example.
//
// Chosen here:
// - "RemoveHeadandAdvance": the queue is walked around, from the most credits to the least, and then from
//   the beginning. Taken literally, a queue that is sorted on every insertion would always have the same
//   head. Among equals the tenant that was added first goes first. A tenant that blocks and comes back has
//   its old place, so it gets at most one turn in each round.
// - Xmin is the smallest X of the tenants that have something to run when a turn begins, or had within the
//   last 30 ms.
// - The part of a tick that a division leaves is carried over to the tenant's next turn.
// - A tenant has a context from its first turn until it is removed.
// - No turn is too long: with credits of 10000 and 1 a turn lasts for 10000 ticks. The paper has no bound.
//
// budget() has the rest of the tenant's turn in `reserve.left`; restore() adds it to the next turn, which
// grows by no more than its own length. O(log n) per turn.
#pragma once

#include <map>
#include <set>

#include "sched/policies/pegasus/polled.hpp"

namespace fairgv::sched {

class RingPolicy : public PolledPolicy {
 public:
  using PolledPolicy::PolledPolicy;

  TenantBudget budget(TenantId id, Time now) const override;
  void restore(TenantId id, const TenantBudget& budget, Time now) override;

  /// The ticks of the turn that would begin now, for display and tests; throws std::out_of_range for an
  /// unknown tenant.
  std::uint64_t ticks(TenantId id, Time now) const;

 protected:
  /// X; at least 1.
  virtual std::uint32_t credits_of(const TenantAttributes& attributes) const = 0;
  /// Ticks beyond Tc.
  virtual std::uint64_t extra_ticks(TenantId /*id*/) const { return 0; }

  void described(TenantId id, const TenantAttributes& attributes) override;
  void forgotten(TenantId id) override;
  void joined(TenantId id, Time now) override;
  void left(TenantId id, Time now) override;
  TenantId pick(Time now) const override;
  Duration turn_length(TenantId id, Time now) const override;
  void began(TenantId id, Duration length, Time now) override;

  std::uint32_t credits(TenantId id) const { return members_.at(id).place.credits; }

 private:
  /// Where a tenant stands in the queue.
  struct Place {
    std::uint32_t credits = 1;
    std::uint64_t arrival = 0;
    TenantId id{};

    bool operator<(const Place& other) const {
      if (credits != other.credits) return credits > other.credits;
      return arrival < other.arrival;
    }
  };

  struct Member {
    Place place{};
    std::uint64_t carried = 0;  // of a tick, in units of 2^-32
    Duration restored{0};
    bool context_established = false;
    Time ready_until{};  // while it has nothing to run
  };

  std::uint64_t exact_ticks(const Member& member, Time now) const;
  bool rival(const Place& place, Time now) const;

  std::map<TenantId, Member> members_;
  std::set<Place> ready_;
  std::set<Place> rivals_;         // and those that have paused, some for too long
  Place last_{UINT32_MAX, 0, {}};  // had the last turn
  std::uint64_t arrivals_ = 0;
};

}  // namespace fairgv::sched
