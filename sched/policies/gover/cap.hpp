// `cap`: round robin among the tenants that have time left of what their caps allow (gOver, section 3.4,
// algorithms 2 and 3; gVirt, sections 2.3 and 2.4). A cap is TenantAttributes::max, a part of the device.
//
// - A second has ten stages of 100 ms. In each stage a tenant gets 100 ms x cap, and keeps what is left from
//   the stages before. A new second begins with 100 ms x cap, whatever was left.
// - Turns are slices of the caller's (gVirt's interval is 1 ms), but no longer than what the tenant has left.
//   Measured time is charged. A turn that overruns makes what is left negative, and the tenant waits for the
//   stages that even that out.
// - A tenant without time left waits for a later stage although the device may be idle. That holds for a
//   lone tenant, too.
//
// Chosen here, where the paper leaves something open:
// - Stages and seconds are those of the caller's clock, and not those of a timer that starts with the policy:
//   what is left of a second survives a change of policy or a restart, as the use in this second.
// - The new second forgets an overrun, as algorithm 2 does by assignment. So a tenant can have cap x 1 s and
//   one overrun in each second. It has more than its cap for long only if its commands are long beside
//   cap x 1 s, and cannot be cut.
// - A turn counts for the second in which it is charged.
// - A changed cap holds as if it had been so since the second began; the paper applies it from the next
//   interval on. Whoever changes caps at the beginning of a second cannot tell the difference.
// - A cap of 1.0, the default, is none. Such a tenant always has time left: it takes a slice each time that
//   its turn comes, so several of them have equal parts of what the capped tenants leave; alone, it has a
//   turn without an end. Real accounts of a whole device would make it wait for moments at the beginning of
//   a second, for nobody's good.
// - Algorithm 3 gives the turn to dom0 when the search comes back to the tenant that ran last, even if that
//   tenant has time left. Here it gets the turn; if nobody has time left, the device is idle.
// - Turns go round in the order in which tenants came to have both work and time left, where the paper has a
//   list of all VMs. The list has O(n) to do in every stage and decision. Here a tenant that sleeps costs
//   nothing, and a decision O(log n) of the tenants that wait for a stage.
// - The paper's pick ignores gVirt's weight. So does this policy.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

#include "sched/arrival_queue.hpp"
#include "sched/policy.hpp"

namespace fairgv::sched {

class CapPolicy final : public Policy {
 public:
  static constexpr Duration kSecond = std::chrono::seconds(1);        // SCHED_PERIOD (algorithm 2)
  static constexpr Duration kStage = std::chrono::milliseconds(100);  // SMOOTH_PERIOD (algorithm 2)
  static constexpr std::int64_t kStages = kSecond / kStage;

  using Policy::Policy;

  void add(TenantId id, const TenantAttributes& attributes, Time now) override;
  void remove(TenantId id, Time now) override;
  void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) override;
  void wake(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  void charge(TenantId id, Duration used, Time now) override;
  /// Whether a capped tenant has used nothing in this second, as far as events have told.
  bool may_forget(TenantId id) const override;
  bool held_back(TenantId id, Time now) const override {
    const auto found = members_.find(id);
    return found != members_.end() && found->second.runnable && !may_run(found->second, now);
  }

  /// `last_second`: the use in this second, as one interval.
  TenantBudget budget(TenantId id, Time now) const override;
  void restore(TenantId id, const TenantBudget& budget, Time now) override;

  Decision next(Time now) override;
  void begin(TenantId id, Time now) override;
  void end(TenantId id, Time now) override;
  /// A lone turn without an end, whose tenant has got a cap meanwhile, is looked at in the next stage.
  std::optional<Time> review_at(TenantId holder, Time now) const override;
  bool must_yield(TenantId holder, Time now) override;

  /// The tenant's time left in this stage; negative after an overrun. For display and tests; throws
  /// std::out_of_range for an unknown tenant.
  Duration left(TenantId id, Time now) const { return left(members_.at(id), now); }

 private:
  struct Member {
    Share cap{};
    std::int64_t second = 0;  // of `used`
    Duration used{0};
    bool runnable = false;
    std::optional<Time> due{};  // it waits for this stage; Time::max(): for a higher cap

    bool capped() const { return cap < kWholeDevice; }
  };

  static Duration used_in_this_second(const Member& member, Time now);
  static Duration left(const Member& member, Time now);
  static bool may_run(const Member& member, Time now);
  static Time next_time_left(const Member& member, Time now);
  void use(Member& member, Duration used, Time now);
  void queue(TenantId id, Member& member, Time now);
  void leave(TenantId id, Member& member);
  void admit_due(Time now);

  std::unordered_map<TenantId, Member> members_;
  ArrivalQueue ready_;                         // runnable, with time left
  std::set<std::pair<Time, TenantId>> later_;  // runnable, without: by the stage that they wait for
  std::optional<TenantId> endless_;            // has a turn without an end
  Time latest_{};                              // of all events
};

}  // namespace fairgv::sched
