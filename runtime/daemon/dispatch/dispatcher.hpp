// Decides which session may use one device now, and which tenant pays: the daemon's half of the turn protocol
// (session/turn.hpp).
//
// The policy (sched/policy.hpp; by default start-time fair queuing) decides which tenant has the next turn,
// for how long, and for which tenant the device is kept. The arbiter carries these decisions out
// (arbiter.hpp). A tenant's sessions share its turns, first come, first served. One session at a time has the
// turn; a session that sees several devices which are this hardware has a place for each (PlaceId), and each
// place waits like a session of its own:
//
// - While nobody else wants the device, the turn has no end (slice 0): a lone tenant is neither measured nor
//   interrupted, and keeps the turn between its commands (state `held`).
// - When somebody else comes, an unused turn is taken back at once, and one in use is asked for (busy_asked).
// - While several want it, a measured turn ends by itself after the slice, or earlier when its session has
//   nothing to issue (work conservation, section 3.2.2). The device time that the worker measured is charged
//   then. A turn by the clock has no end for the worker (slice 0), and is taken back or asked for when its
//   slice has passed.
//
// A session may be suspended: it gets no turn until it may go on. Its queued commands stay where they are, in
// its worker. To the policy, a tenant whose sessions are all suspended sleeps, so that the tenant gains
// nothing by the pause.
//
// This class handles sessions that come and go. The classes below it: place.hpp has the sessions' pages,
// waiting_line.hpp the sessions that wait, turn_in_progress.hpp the turn, and charges.hpp the charges.
//
// Nothing that a worker writes decides alone: a state that the protocol does not allow makes the session
// broken, and a worker's report is charged within bounds (charges.hpp).
//
// Pure logic beside the shared page: no threads and no clock of its own. Not thread-safe; DispatchLoop owns
// it. Workers move their turn's state at the same time, on the atomics of the page.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/daemon/turns/arbiter.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/turn.hpp"
#include "sched/policy.hpp"

namespace fairgv::daemon {

class Dispatcher {
 public:
  using Time = sched::Time;
  using Duration = sched::Duration;

  static constexpr auto kFreshGrant = TurnInProgress::kFreshGrant;
  static constexpr auto kPatience = Arbiter::kPatience;
  static constexpr auto kMostWaitingAwake = Arbiter::kMostWaitingAwake;

  /// Every slice is as the policy sets it, until set_rules().
  explicit Dispatcher(std::unique_ptr<sched::Policy> policy) : arbiter_(std::move(policy)) {}

  /// Rules for turns granted from now on, and for the watchdog.
  void set_rules(const TurnRules& rules) {
    arbiter_.device().rules = rules;
    arbiter_.device().memory.set_rule(rules.lending, places());
  }
  /// Sets the policy from now on. Tenants carry over with their attributes and with the state of their
  /// promises, as far as both policies know it (sched/budget.hpp). A turn in progress goes on as it began.
  void set_policy(std::unique_ptr<sched::Policy> policy, Time now) {
    arbiter_.set_policy(std::move(policy), now);
  }

  // -- tenants; they keep debt and totals while they have no session

  void add_tenant(TenantId id, const sched::TenantAttributes& attributes, Time now);
  void set_attributes(TenantId id, const sched::TenantAttributes& attributes, Time now);
  /// The past of a tenant that was added, under an earlier dispatcher.
  void restore_books(TenantId id, const TenantBooks& books, Time now);
  /// Its past until now; an empty one of an unknown tenant.
  TenantBooks books(TenantId id, Time now);
  /// See may_forget() in device_use.hpp.
  void forget_tenant(TenantId id, Time now);

  // -- sessions

  /// The session's memory, which must stay valid until remove_session().
  struct SessionPages {
    session::DeviceTurn& turn;
    session::TurnPromise* promise;  // null: an earlier release began the session
    ring::SegmentHeader& header;
    std::span<session::DeviceTurn> turns{};         // on all devices of the session
    session::DeviceResidency* residency = nullptr;  // null: as `promise`
  };
  /// The tenant must be known. The dispatcher uses `worker` on a device that runs on the host's processors.
  void add_session(PlaceId id, TenantId tenant, const SessionPages& pages, Time now,
                   WorkerHandle worker = {});
  /// Adds a session that an earlier dispatcher has served, with whatever turn it has now. Of its worker's
  /// count, `used_ns` is charged already, and `work` is believed; `books` describe the turn that the session
  /// had then. After the last session, call resume().
  void adopt_session(PlaceId id, TenantId tenant, const SessionPages& pages, std::uint64_t used_ns, Time now,
                     const WorkCounters& work = {}, const std::optional<TurnBooks>& books = {},
                     WorkerHandle worker = {});
  void resume(Time now) { arbiter_.resume(now); }
  /// The session is gone, with or without the turn; its worker no longer uses the device.
  void remove_session(PlaceId id, Time now);
  /// Another worker serves the session from now on, and begins without a turn and without a wish for one. The
  /// worker before it no longer uses the device.
  void change_worker(PlaceId id, WorkerHandle worker, Time now);
  /// The session's worker knocked. Spurious and unknown knocks do no harm.
  void look(PlaceId id, Time now);

  /// Sets whether the session gets no turn until it is resumed. If it has a turn, expire(), which is due at
  /// once, takes the turn back or asks for it. Unknown sessions are passed over.
  void set_suspended(PlaceId id, bool suspended, Time now);
  /// Makes the session count as broken, for a reason that goes on after "the worker ".
  void condemn(PlaceId id, const std::string& reason, Time now);

  /// The time at which expire() is to be called, if nothing happens before. None while no session waits.
  std::optional<Time> deadline() const { return arbiter_.deadline(); }
  void expire(Time now) { arbiter_.expire(now); }
  /// The same at a tick of the host, which tells the policy of these tenants first; unknown tenants are
  /// passed over. At any time; the policy says how often it wants that (sched::HostInterest).
  void expire(std::span<const HostTold> tick, Time now);

  /// The time at which the turn in progress should end by itself, if other sessions, but not many, wait for
  /// its end and the device's work is not done on the host's processors: a thread that is awake then need not
  /// be woken, which would take as long as a short kernel.
  std::optional<TurnInProgress::Window> end_expected() const { return arbiter_.end_expected(); }
  /// Within that window: wakes the worker that is likely to be next, once a turn.
  void announce_next(Time now) { arbiter_.announce_next(now); }

  /// Sessions that broke the protocol since the last call. They get no turn any more, but a session that has
  /// the turn keeps it until remove_session(): kill the worker first.
  std::vector<BrokenSession> take_broken() { return arbiter_.take_broken(); }

  // -- looking; see device_use.hpp, too

  const DeviceState& device() const { return arbiter_.device(); }
  /// Charges the holder's use so far, and tells the policy for how long the device has rested.
  void charge_holder(Time now) { arbiter_.charge_holder(now); }
  /// The work of the session's worker, as far as its report can be believed.
  WorkCounters work(PlaceId id, Time now);
  /// Charges for use of the device without a turn.
  Charges& charges() { return arbiter_.device().charges; }
  /// Turns that are over, for tracing. The turn in progress is in device().
  TurnLog& log() { return arbiter_.log(); }

 private:
  void add_place(PlaceId id, TenantId tenant, const SessionPages& pages, Time now, WorkerHandle worker);
  void look_at_turn(PlaceId id, SessionPlace& place, Time now);
  bool end_wish(PlaceId id, SessionPlace& place, Time now);
  Places& places() { return arbiter_.device().places; }
  TenantAccounts& accounts() { return charges().accounts(); }

  Arbiter arbiter_;
};

}  // namespace fairgv::daemon
