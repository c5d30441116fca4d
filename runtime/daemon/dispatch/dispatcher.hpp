// Who may use one device now, and who pays for it: the daemon's half of the turn protocol (session/turn.hpp).
//
// Whose turn is next, for how long, and for whom the device is kept are decisions of the policy
// (sched/policy.hpp; by default start-time fair queuing). The arbiter carries them out (arbiter.hpp). A
// tenant's sessions share its turns, first come first served. One session at a time has the turn; a session
// that sees several devices which are this hardware has a place for each (PlaceId), and each waits like a
// session of its own:
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
// its worker. To the policy a tenant whose sessions are all suspended is one that sleeps, so that it gains
// nothing by it.
//
// This class knows who comes and goes. Below it: place.hpp has the sessions' pages, waiting_line.hpp who
// waits, turn_in_progress.hpp the turn, and charges.hpp who pays.
//
// Nothing that a worker writes decides alone: a state that the protocol does not allow makes the session
// broken, and what it reports is charged within bounds (charges.hpp).
//
// Pure logic beside the shared page: no threads and no clock of its own. Not thread-safe; the owner is
// DispatchLoop. Workers move their turn's state at the same time, on the atomics of the page.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
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

  /// Every slice is as the policy has it, until set_rules().
  explicit Dispatcher(std::unique_ptr<sched::Policy> policy) : arbiter_(std::move(policy)) {}

  /// For turns granted from now on, and for the watchdog.
  void set_rules(const TurnRules& rules) { arbiter_.device().rules = rules; }
  /// From now on. Tenants carry over with their weights, but without what they owed: policies keep different
  /// books. A turn in progress goes on as it began.
  void set_policy(std::unique_ptr<sched::Policy> policy, Time now) {
    arbiter_.set_policy(std::move(policy), now);
  }

  // -- tenants; they keep debt and totals while they have no session

  void add_tenant(TenantId id, std::uint32_t weight, Time now);
  void set_weight(TenantId id, std::uint32_t weight, Time now);
  /// Nothing is lost by forgetting it: no session, and no debt.
  bool may_forget(TenantId id) const;
  void forget_tenant(TenantId id, Time now);

  // -- sessions

  /// `turn` and `header` are the session's; they must stay valid until remove_session(). The tenant must be
  /// known. `ran` is asked on a device that runs on the host's processors.
  void add_session(PlaceId id, TenantId tenant, session::DeviceTurn& turn, ring::SegmentHeader& header,
                   Time now, ProcessorTimer ran = {});
  /// The same for a session that a dispatcher before this one has served, with whatever turn it has now;
  /// `used_ns` of what its worker has counted is charged, and `work` believed; `books` are of the turn that
  /// it had then. After the last one, call resume().
  void adopt_session(PlaceId id, TenantId tenant, session::DeviceTurn& turn, ring::SegmentHeader& header,
                     std::uint64_t used_ns, Time now, const WorkCounters& work = {},
                     const std::optional<TurnBooks>& books = {}, ProcessorTimer ran = {});
  void resume(Time now) { arbiter_.resume(now); }
  /// The session is gone, with or without the turn; its worker no longer uses the device.
  void remove_session(PlaceId id, Time now);
  /// Its worker knocked. Spurious and unknown knocks do no harm.
  void look(PlaceId id, Time now);

  /// Whether it gets no turn until it is resumed. A turn that it has is taken back, or asked for, by
  /// expire(), which is due at once. Unknown sessions are passed over.
  void set_suspended(PlaceId id, bool suspended, Time now);
  /// Has the session count as broken, for a reason that goes on after "the worker ".
  void condemn(PlaceId id, const std::string& reason, Time now);

  /// When expire() wants to be called, if nothing happens before. None while nobody waits.
  std::optional<Time> deadline() const { return arbiter_.deadline(); }
  void expire(Time now) { arbiter_.expire(now); }

  /// When the turn in progress should come to its end by itself, if others, but not many, wait for that and
  /// the device's work is done elsewhere than on the host's processors: who is awake then need not be woken,
  /// which takes as long as a short kernel.
  std::optional<TurnInProgress::Window> end_expected() const { return arbiter_.end_expected(); }
  /// Within that time: has the worker wake up that is likely to be next, once a turn.
  void announce_next(Time now) { arbiter_.announce_next(now); }

  /// Sessions that broke the protocol since the last call. They get no turn any more, but one that has the
  /// turn keeps it until remove_session(): kill the worker first.
  std::vector<BrokenSession> take_broken() { return arbiter_.take_broken(); }

  // -- looking; see device_use.hpp, too

  const DeviceState& device() const { return arbiter_.device(); }
  std::optional<SessionId> holder() const;
  /// Charges what the holder has used so far, and tells the policy what the device has rested.
  void charge_holder(Time now) { arbiter_.charge_holder(now); }
  /// What the session's worker has done, as far as it can be believed.
  WorkCounters work(PlaceId id, Time now);
  /// For use of the device without a turn.
  Charges& charges() { return arbiter_.device().charges; }
  /// Turns that are over, for who traces. The one in progress is in device().
  TurnLog& log() { return arbiter_.log(); }

 private:
  Places& places() { return arbiter_.device().places; }
  TenantAccounts& accounts() { return charges().accounts(); }

  Arbiter arbiter_;
};

}  // namespace fairgv::daemon
