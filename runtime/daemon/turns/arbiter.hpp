// The turn on one device: gives it to one place after another as the policy says, and gets it back.
//
// A turn is granted, asked for, taken back and given back on the atomics of the session's page, which its
// worker moves at the same time (session/turn.hpp). The dispatcher reports places that come, go and knock;
// the policy decides which tenant is next, for how long, and for which tenant the device is kept.
//
// Invariant, kept by every call: when no place has the turn, no place wants it, it is being kept for a
// tenant, memory of the next place comes in, or the policy leaves it idle until the deadline.
//
// A device cannot be taken from a command that runs. A session that holds it for longer than the hold limit
// while another session wants it counts as broken, so that its worker is killed: one kernel that never ends
// must not block the device for all tenants.
//
// Pure logic beside the shared pages; time is an argument. Not thread-safe: the dispatcher owns it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/daemon/turns/device_state.hpp"
#include "runtime/daemon/turns/turn_log.hpp"
#include "runtime/session/turn.hpp"
#include "sched/policy.hpp"

namespace fairgv::daemon {

/// A session that broke the turn protocol, or held a device for too long, and how.
struct BrokenSession {
  SessionId session;
  std::string reason;
  bool held_too_long = false;  // broke the hold limit, not the protocol
};

/// The host's processors and the programs of one tenant, at a tick.
struct HostTold {
  TenantId tenant;
  sched::HostState state{};
};

class Arbiter {
 public:
  using Time = sched::Time;
  using Duration = sched::Duration;
  using State = session::TurnState;

  /// How often to look at the holder while others wait, though it did not knock: a worker that was stopped
  /// before it used its turn must not keep the others waiting.
  static constexpr std::chrono::milliseconds kPatience{20};
  /// The most waiting sessions with which the dispatcher polls for the end of a turn. Where more wait, their
  /// programs need the host's processors: with 64 tenants beside one host processor, polling cost each tenant
  /// 4 to 9 % of its work (fairgv bench crowd).
  static constexpr std::size_t kMostWaitingAwake = 8;

  /// Every slice is as the policy sets it, until the rules say otherwise.
  explicit Arbiter(std::unique_ptr<sched::Policy> policy);

  sched::Policy& policy() { return *policy_; }
  const sched::Policy& policy() const { return *policy_; }
  /// See Dispatcher::set_policy().
  void set_policy(std::unique_ptr<sched::Policy> policy, Time now);

  DeviceState& device() { return device_; }
  const DeviceState& device() const { return device_; }
  TurnLog& log() { return log_; }
  bool has_turn(PlaceId id) const { return device_.turn && device_.turn->place == id; }
  /// Whether the place has a turn that stands still.
  bool is_interrupted(PlaceId id) const { return device_.interrupted && device_.interrupted->place() == id; }

  // -- places that come and go

  /// A place wants the turn, and did not yet.
  void want(PlaceId id, SessionPlace& place, Time now);
  /// A place that waits does so no longer.
  void leave(PlaceId id, SessionPlace& place, Time now);
  /// Takes over a place of an earlier dispatcher, which waits or has the turn by its page; `books` are of
  /// that turn. After the last place, call resume().
  void adopt(PlaceId id, SessionPlace& place, State state, const std::optional<TurnBooks>& books, Time now);
  void resume(Time now);
  /// The session that has the turn, or an interrupted one, is gone: charges it. settle() must follow.
  void break_off(PlaceId id, SessionPlace& place, Time now);
  /// A place of the tenant has left the line, for good or not; `had_turn`: that place had the turn. Goes on
  /// with the next.
  void settle(TenantId tenant, bool had_turn, Time now);
  /// The holder may have changed the state of its turn.
  void look_at_holder(SessionPlace& place, Time now);
  /// The place is suspended: its turn or its wait ends.
  void suspend(PlaceId id, SessionPlace& place, Time now);
  /// The policy has been told of a tenant's new attributes: a promise may end the turn, or let a tenant go
  /// on.
  void attributes_changed(Time now);
  /// Memory may have come in or gone out (memory_lender.hpp).
  void look_at_memory(Time now);
  /// A tick of the host: tells the policy of the tenants, which must be known, and asks whether the holder is
  /// to give the device back.
  void hear_of_host(std::span<const HostTold> tenants, Time now);
  /// Tells the session that uses the device whether the device is shared.
  void tell_company();

  // -- time

  std::optional<Time> deadline() const;
  void expire(Time now);
  /// See Dispatcher.
  std::optional<TurnInProgress::Window> end_expected() const;
  void announce_next(Time now);
  void charge_holder(Time now);

  /// The place gets no turn any more.
  void report_broken(PlaceId id, SessionPlace& place, const std::string& reason, Time now,
                     bool held_too_long = false);
  std::vector<BrokenSession> take_broken() { return std::exchange(broken_, {}); }

 private:
  SessionPlace& holding_place() { return device_.places.at(device_.turn->place); }
  bool holds(TenantId id) const;
  bool charge(TurnInProgress& turn, SessionPlace& place, Time now);
  void line_up(PlaceId id, SessionPlace& place, Time now);
  void block_if_idle(TenantId id, Time now);
  void stop_keeping(Time now);
  void save_budgets(Time now);
  void wake_all(Time now);
  void review(Time now);
  void plan_review(Time now);
  bool interrupt(const SessionPlace& newcomer, Time now);
  void go_on(Time now);
  void let_go(Time now);
  void contend(TenantId newcomer, Time now);
  void reclaim_turn(Time now);
  void watch_obstruction(SessionPlace& place, Time now);
  void end_turn(SessionPlace& place, State state, Time now);
  void forget_turn(Time now);
  void grant_next(Time now);
  bool has_memory(PlaceId id, SessionPlace& place, Time now);
  void lend_to(SessionPlace& place, Time now);
  void lend_to_next(Time now);
  bool others_lack_memory(const SessionPlace& place);
  Duration slice() const;
  bool grant(PlaceId id, SessionPlace& place, const sched::Turn& turn, Time now);

  std::unique_ptr<sched::Policy> policy_;
  DeviceState device_;
  /// No place has the turn: the device is kept for this tenant until the deadline.
  std::optional<TenantId> kept_for_;
  std::optional<Time> deadline_;
  std::optional<Time> review_at_;  // of the turn in progress
  std::vector<BrokenSession> broken_;
  TurnLog log_;
};

}  // namespace fairgv::daemon
