// `strict-cosched`: the device follows the host's processor (Pegasus, section 4.2, "Strict co-scheduling
// (CoSched)", algorithm 2; FairGV, section 3.2.3, algorithms 1 and 2): a tenant has the device exactly while
// its host side has its processor, whether it uses it or not. Not work-conserving.
//
// The papers let the hypervisor's scheduler decide and leave its schedule to Xen. There is no such scheduler
// to listen to here, so this policy plays it:
//
// - The host's schedule is a sequence of fixed turns of one slice by the clock, given in proportion to the
//   weights. A turn counts whole, used or not; commands that drain after it count for nobody.
// - The schedule holds every tenant that wants the device, and keeps it for 100 ms after that, because it is
//   taken to compute on the host. Its turns come, and the device stays idle in them unless the tenant comes
//   back within.
// - Algorithm 2 compares credits before a switch, because several processors' requests compete. One schedule
//   has no rivals, so the condition holds always.
// - Left out: Pegasus gives the device to somebody else when no scheduled domain wants it; FairGV's
//   algorithms do not.
#pragma once

#include <unordered_map>

#include "sched/fair_queue.hpp"
#include "sched/policy.hpp"

namespace fairgv::sched {

class StrictCoschedPolicy final : public Policy {
 public:
  /// For how long after its last command a tenant is taken to compute on the host.
  static constexpr Duration kHostWork = std::chrono::milliseconds(100);

  using Policy::Policy;

  void add(TenantId id, const TenantAttributes& attributes, Time now) override;
  void remove(TenantId id, Time now) override;
  void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) override;
  void wake(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  /// Ignored: every turn counts whole.
  void charge(TenantId id, Duration used, Time now) override;
  Decision next(Time now) override;
  std::optional<Time> pause(TenantId id, Time now) override;

 private:
  struct Member {
    bool runnable = false;
    Time blocked{};
  };

  void open_turn(Time now);

  FairQueue host_;  // the schedule of the host's processors
  std::unordered_map<TenantId, Member> members_;
  std::optional<TenantId> owner_;  // of the turn in progress
  Time turn_ends_{};
};

}  // namespace fairgv::sched
