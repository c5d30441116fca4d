// The cost of using one device, and the tenant that pays: turns, by their workers' reports and by the
// daemon's own clock (turn_cost.hpp), and use without a turn.
//
// A charge goes to the tenant's account, to the policy and to the turn. While a turn lasts, its worker's
// report is charged; the report may not go backwards, nor beyond the time that the worker has had the turn.
// At the end of the turn, and for use that no worker reports any more, the daemon's own clock decides. A
// session that ends in the midst of a command is charged up to its end.
//
// Pure logic beside the shared pages; time is an argument. Not thread-safe: the dispatcher owns it. The
// policy is the dispatcher's.
#pragma once

#include <optional>
#include <utility>

#include "runtime/daemon/turns/excused_time.hpp"
#include "runtime/daemon/turns/place.hpp"
#include "runtime/daemon/turns/rest_clock.hpp"
#include "runtime/daemon/turns/tenant_accounts.hpp"
#include "runtime/daemon/turns/turn_in_progress.hpp"
#include "sched/policy.hpp"

namespace fairgv::daemon {

class Charges {
 public:
  using Time = sched::Time;
  using Duration = sched::Duration;

  /// Reports charges to this policy from now on; it outlives this object, or the next call.
  void use_policy(sched::Policy& policy) { policy_ = &policy; }
  /// Sets the number of host processors that the device runs on; 0: it has its own.
  void set_processors(unsigned count) { processors_ = count; }
  bool on_host_processors() const { return processors_ > 0; }

  TenantAccounts& accounts() { return accounts_; }
  const TenantAccounts& accounts() const { return accounts_; }

  // -- a turn and its place

  /// Charges the worker's measurements since the last time; false if the worker broke the protocol.
  bool charge_reported(TurnInProgress& turn, SessionPlace& place, Time now);
  /// Others wait for the turn from now on, if they did not before.
  void contest(TurnInProgress& turn, const SessionPlace& place, Time now);
  /// Charges, at the end of a turn, its cost by our own clock.
  void charge_least(TurnInProgress& turn, SessionPlace& place, Time now);
  /// The turn's session is gone in the midst of it: the command that was under way has kept the device until
  /// now, and no worker reports it any more.
  void charge_broken_off(TurnInProgress& turn, SessionPlace& place, Time now);

  /// Sets whether any session waits. While none does, the policy is told for how long the device has rested.
  void set_wanted(bool wanted, Time now);
  bool may_rest() const { return rest_.runs(); }
  void tell_rest(Time now);

  // -- use without a turn

  /// Charges time that turns between `from` and now should not have been excused from.
  void charge_later(TenantId id, Duration used, Time from, Time now);
  /// The tenant used as much of the device as this, between `from` and now, without a turn.
  void charge_outside(TenantId id, Duration used, Time from, Time now);
  /// Time that turns since the last call were excused from paying, because their workers did not run.
  ExcusedTime take_excused() { return std::exchange(excused_, {}); }

 private:
  void book(TurnInProgress& turn, SessionPlace& place, Duration used, Time now);
  std::optional<Duration> ran(const SessionPlace& place) const;

  sched::Policy* policy_ = nullptr;
  TenantAccounts accounts_;
  unsigned processors_ = 0;
  ExcusedTime excused_;
  RestClock rest_;
};

}  // namespace fairgv::daemon
