// What use of one device costs, and who pays: turns, by their workers' reports and by the daemon's own clock
// (turn_cost.hpp), and use without a turn.
//
// A charge goes to the tenant's account, to the policy and to the turn. While a turn lasts, its worker's
// report is charged, which may not go backwards nor beyond the time that it had the turn. At its end, and for
// what no worker reports any more, the daemon's own clock decides. A session that ends in the midst of a
// command is charged up to its end.
//
// Pure logic beside the shared pages, time is an argument; not thread-safe, the dispatcher owns it. The
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

  /// Who is told of charges from now on; it outlives this, or the next call.
  void use_policy(sched::Policy& policy) { policy_ = &policy; }
  /// Of a device that runs on the host's processors, how many these are; 0: it has its own.
  void set_processors(unsigned count) { processors_ = count; }

  TenantAccounts& accounts() { return accounts_; }
  const TenantAccounts& accounts() const { return accounts_; }

  // -- a turn and its place

  /// What the worker has measured since the last time; false if it broke the protocol.
  bool charge_reported(TurnInProgress& turn, SessionPlace& place, Time now);
  /// Others wait for it from now on, if they did not before.
  void contest(TurnInProgress& turn, const SessionPlace& place, Time now);
  /// At its end: what it costs by our own clock.
  void charge_least(TurnInProgress& turn, SessionPlace& place, Time now);
  /// Its session is gone in the midst of it: the command that was under way has kept the device until now,
  /// and nobody reports it any more.
  void charge_broken_off(TurnInProgress& turn, SessionPlace& place, Time now);

  /// Whether anybody waits. While nobody does, the policy is told what the device has rested.
  void set_wanted(bool wanted, Time now);
  bool may_rest() const { return rest_.runs(); }
  void tell_rest(Time now);

  // -- use without a turn

  /// Time that turns between `from` and now should not have been excused from.
  void charge_later(TenantId id, Duration used, Time from, Time now);
  /// The tenant used as much of the device as this, between `from` and now, without a turn.
  void charge_outside(TenantId id, Duration used, Time from, Time now);
  /// Time that turns since the last call have been excused from paying, because their workers did not run.
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
