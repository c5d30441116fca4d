// The base of Pegasus' policies (Pegasus, sections 4 and 5): a tenant is polled for some ticks, by the
// clock.
//
// - A tick is the policy's slice. A turn lasts for so many ticks from its beginning, "until it finishes
//   its awarded number of ticks" (section 4.1), in which commands are issued as they come and nothing is
//   measured. Commands that are in flight when the ticks are over drain, and nobody pays for them.
// - A tenant with nothing to issue goes on being polled: the device is kept for it, and stays idle, until
//   its ticks are over. A tenant that leaves in the middle (block() without pause()) ends its turn.
// - The ready queue holds the tenants that have something to run ("Domains are selected from this queue
//   when they are ready to issue requests", section 3.2).
// - The host side of a program is not woken with its turn: here the device follows the host or ignores it.
//
// The derived classes say whom to poll next and for how long. One policy object has one accelerator: Pegasus'
// choice among accelerators, PickAccelerator, is sched/choice/device_choice.hpp.
#pragma once

#include <unordered_map>

#include "sched/policy.hpp"

namespace fairgv::sched {

class PolledPolicy : public Policy {
 public:
  /// A tenant that has nothing to run for no longer than this still counts as a rival: a program that waits
  /// for each of its results has often just paused when somebody else's turn begins. Xen's period.
  static constexpr Duration kShortPause = std::chrono::milliseconds(30);

  using Policy::Policy;

  void add(TenantId id, const TenantAttributes& attributes, Time now) override;
  void remove(TenantId id, Time now) override;
  void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) override;
  void wake(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  /// Ignored: nothing is measured.
  void charge(TenantId id, Duration used, Time now) override;
  Decision next(Time now) override;
  void begin(TenantId id, Time now) override;
  std::optional<Time> pause(TenantId id, Time now) override;

 protected:
  /// A tenant came, or has other attributes. Called for a tenant that is not runnable, or between left() and
  /// joined().
  virtual void described(TenantId id, const TenantAttributes& attributes) = 0;
  virtual void forgotten(TenantId id) = 0;
  /// The tenant is runnable from now on, and no longer.
  virtual void joined(TenantId id, Time now) = 0;
  virtual void left(TenantId id, Time now) = 0;
  /// Among the runnable tenants; asked between turns, while there is one.
  virtual TenantId pick(Time now) const = 0;
  /// The length of the turn that would begin now.
  virtual Duration turn_length(TenantId id, Time now) const = 0;
  virtual void began(TenantId id, Duration length, Time now) = 0;
  /// The tenant left in the middle of its turn.
  virtual void cut_short(TenantId /*id*/, Duration /*unused*/) {}

  bool known(TenantId id) const { return runnable_.contains(id); }
  bool runnable(TenantId id) const {
    const auto found = runnable_.find(id);
    return found != runnable_.end() && found->second;
  }
  /// The rest of the tenant's turn.
  Duration rest_of_turn(TenantId id, Time now) const {
    return owner_ == id && now < turn_ends_ ? turn_ends_ - now : Duration(0);
  }

 private:
  std::unordered_map<TenantId, bool> runnable_;  // all tenants
  std::size_t runnable_count_ = 0;
  std::optional<TenantId> owner_;  // of the turn that was begun last
  Time turn_ends_{};
};

}  // namespace fairgv::sched
