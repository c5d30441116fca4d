// Who may use one device now, and who pays for it: the daemon's half of the turn protocol (session/turn.hpp).
//
// Whose turn is next, for how long, and for whom the device is kept are decisions of the policy
// (sched/policy.hpp; by default start-time fair queuing). This class carries them out. A tenant's sessions
// share its turns, first come first served. One session at a time has the turn; a session that sees several
// devices which are this hardware has a place for each (PlaceId), and each waits like a session of its own:
//
// - While nobody else wants the device, the turn has no end (slice 0): a lone tenant is neither measured nor
//   interrupted, and keeps the turn between its commands (state `held`).
// - When somebody else comes, an unused turn is taken back at once, and one in use is asked for (busy_asked).
// - While several want it, a measured turn ends by itself after the slice, or earlier when its session has
//   nothing to issue (work conservation, section 3.2.2). The device time that the worker measured is charged
//   then. A turn by the clock has no end for the worker (slice 0), and is taken back or asked for when its
//   slice has passed.
//
// Invariant, kept by every call: when nobody has the turn, nobody wants it, it is being kept for somebody, or
// the policy leaves it idle until the deadline.
//
// A session may be suspended: it gets no turn until it may go on.
//
// Nothing that a worker writes decides alone: a state that the protocol does not allow makes the session
// broken; the time it reports may not go backwards, and lies between what the turn costs at least while
// others wait (turn_cost.hpp) and the time that it had the turn. A session that ends in the midst of a
// command is charged up to its end.
//
// A device cannot be taken from a command that runs. Whoever holds it for longer than the hold limit while
// somebody else wants it counts as broken, too, so that its worker is killed: one kernel that never ends must
// not end the device for everybody.
//
// Pure logic beside the shared page: no threads and no clock of its own. Not thread-safe; the owner is
// DispatchLoop. Workers move their turn's state at the same time, on the atomics of the page.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/books/usage_window.hpp"
#include "runtime/daemon/books/wait_histogram.hpp"
#include "runtime/daemon/books/work_counters.hpp"
#include "runtime/daemon/dispatch/excused_time.hpp"
#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/compile_clock.hpp"
#include "runtime/session/turn.hpp"
#include "sched/policy.hpp"
#include "sched/slice_rule.hpp"

namespace fairgv::daemon {

/// What is known of a tenant's past on a device beside what is in its sessions' shared pages.
struct TenantBooks {
  std::chrono::nanoseconds device_time{0};
  std::chrono::nanoseconds outside{0};  // of it
  WorkCounters ended{};                 // of its sessions that are gone
  WaitHistogram waits{};                // for a turn
};

/// A tenant's use of one device, in its life if nothing else is said.
struct DeviceUse {
  std::chrono::nanoseconds device_time{0};
  std::chrono::nanoseconds outside{0};  // of it, what was charged for processors used outside of turns
  std::chrono::nanoseconds recent{0};   // of it, as UsageWindow has it
  WorkCounters work;                    // as far as workers can be believed
  WaitHistogram waits;                  // of its sessions, for a turn: from asking to being granted it
  std::chrono::nanoseconds wait_p50{0}, wait_p99{0};  // of late, as Waits has it
  std::uint32_t queue = 0;                            // sessions with work now: they wait, or use the device
  std::uint32_t interactive = 0;                      // sessions of interactive programs now
};

/// A turn in progress, for a dispatcher after this one. Moments are of the system's monotonic clock.
struct TurnBooks {
  sched::Time granted;
  std::optional<sched::Time> contested;  // since when others waited for it
  sched::Duration charged{0};            // so far
  sched::Duration before{0};             // of it, when others began to wait
};

/// A session that broke the turn protocol, or held a device for too long, and how.
struct BrokenSession {
  SessionId session;
  std::string reason;
  bool held_too_long = false;  // the hold limit, not the protocol
};

/// A turn, for who traces.
struct TracedTurn {
  SessionId session;
  std::uint32_t device;  // of the host's, that it was for
  sched::Time wanted;    // since when it was waited for
  sched::Time granted;
  sched::Time ended;  // or the moment of asking, if it is not over
  sched::Duration charged{0};
  sched::Duration slice{0};  // 0: without an end
  bool over = true;
};

class Dispatcher {
 public:
  using Time = sched::Time;
  using Duration = sched::Duration;

  /// A turn that was granted to a lone session this short a time ago is left alone, so that its worker can
  /// wake up and use it: else two sessions that come and go could take the turn from each other for ever.
  static constexpr std::chrono::milliseconds kFreshGrant{1};
  /// How often the holder is looked at while others wait, though it did not knock: a worker that was stopped
  /// before it used its turn must not keep the others waiting.
  static constexpr std::chrono::milliseconds kPatience{20};
  static constexpr std::size_t kMostTracedTurns = 65'536;
  /// Part of a slice: how long after its end that of a measured turn is still near. How long before it the
  /// turn may be over says sched::TurnPlan.
  static constexpr int kEndsLaterBy = 20;
  /// Sessions. Where more wait, their programs need the host's processors, and nobody polls: with 64 tenants
  /// beside one host processor each got 4 to 9 % less done (fairgv bench crowd).
  static constexpr std::size_t kMostWaitingAwake = 8;

  /// Every slice is as the policy has it, until set_slices().
  explicit Dispatcher(std::unique_ptr<sched::Policy> policy)
      : policy_(std::move(policy)), slices_(sched::SliceRule::constant(policy_->slice())) {}

  /// For turns granted from now on.
  void set_slices(const sched::SliceRule& slices) { slices_ = slices; }
  /// Of a device that runs on the host's processors, how many these are; 0: it has its own.
  void set_processors(unsigned count) { processors_ = count; }
  /// How long a session may keep others waiting in one turn; 0: for ever.
  void set_hold_limit(Duration limit) { hold_limit_ = limit; }
  /// From now on. Tenants carry over with their weights, but without what they owed: policies keep different
  /// books. A turn in progress goes on as it began.
  void set_policy(std::unique_ptr<sched::Policy> policy, Time now);

  // -- tenants; they keep debt and totals while they have no session

  void add_tenant(TenantId id, std::uint32_t weight, Time now);
  void set_weight(TenantId id, std::uint32_t weight, Time now);
  /// Nothing is lost by forgetting it: no session, and no debt.
  bool may_forget(TenantId id) const;
  void forget_tenant(TenantId id, Time now);

  // -- sessions

  /// The processor time that a worker's process has used in its life; nothing if it is gone.
  using ProcessorTimer = std::function<std::optional<Duration>()>;

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
  void resume(Time now);
  /// The session is gone, with or without the turn; its worker no longer uses the device.
  void remove_session(PlaceId id, Time now);
  /// Its worker knocked. Spurious and unknown knocks do no harm.
  void look(PlaceId id, Time now);

  /// Whether it gets no turn until it is resumed (dispatcher_suspend.cpp). A turn that it has is taken back,
  /// or asked for, by expire(), which is due at once. Unknown sessions are passed over.
  void set_suspended(PlaceId id, bool suspended, Time now);

  /// When expire() wants to be called, if nothing happens before. None while nobody waits.
  std::optional<Time> deadline() const { return deadline_; }
  void expire(Time now);

  /// When the turn in progress should come to its end by itself, if others, but not many, wait for that and
  /// the device's work is done elsewhere than on the host's processors: who is awake then need not be woken,
  /// which takes as long as a short kernel.
  struct Window {
    Time from;
    Time until;
  };
  std::optional<Window> end_expected() const;
  /// Within that time: has the worker wake up that is likely to be next, once a turn.
  void announce_next(Time now);

  /// Sessions that broke the protocol since the last call. They get no turn any more, but one that has the
  /// turn keeps it until remove_session(): kill the worker first.
  std::vector<BrokenSession> take_broken() { return std::exchange(broken_, {}); }

  // -- looking

  /// Whether somebody waits for a turn.
  bool contended() const { return waiting_ > 0; }
  /// How long a turn is while as many tenants want the device as want it now.
  Duration slice() const;
  bool knows(TenantId id) const { return tenants_.contains(id); }
  std::optional<SessionId> holder() const;
  /// With the device for which it has the turn.
  std::optional<PlaceId> holding_place() const;
  session::TurnState state(PlaceId id) const;
  /// Whether its program waits so often that it is woken with its turns (FairGV, section 3.2.3).
  bool interactive(PlaceId id) const;
  /// Why its next command waits, as its worker says (session/turn_wait.hpp); empty: none does.
  const char* waits_for(PlaceId id) const;
  /// Its worker's, if it is to be believed.
  session::CompileClock compile_clock(PlaceId id) const;
  /// Device time charged to the tenant in its life. Call charge_holder() before for a value of this moment.
  Duration device_time(TenantId id) const { return tenants_.at(id).device_time; }
  /// Device time of late (see UsageWindow). A turn in progress counts as used so far.
  Duration recent_device_time(TenantId id, Time now) const;
  /// Everything that is counted of a tenant. Call charge_holder() before, as for device_time().
  DeviceUse use(TenantId id, Time now);
  /// What the session's worker has done, as far as it can be believed.
  WorkCounters work(PlaceId id, Time now);
  /// For a dispatcher after this one.
  TenantBooks books(TenantId id) const;
  void restore_books(TenantId id, const TenantBooks& books);
  std::uint64_t charged_ns(PlaceId id) const;
  /// Of the turn in progress, if it is the session's.
  std::optional<TurnBooks> turn_books(PlaceId id) const;
  /// Charges what the holder has used so far, and tells the policy what the device has rested.
  void charge_holder(Time now);

  // -- a device that runs on the host's processors

  /// The session's charges in its life, and those to come for the command that is under way as
  /// far as its worker says. Nothing if it has never wanted this device.
  std::optional<Duration> paid(PlaceId id, Time now);
  /// Time that turns since the last call have been excused from paying, because their workers did not run.
  ExcusedTime take_excused() { return std::exchange(excused_, {}); }
  /// Charges time that turns between `from` and now should not have been excused from.
  void charge_later(TenantId id, Duration used, Time from, Time now);
  /// The tenant used as much of the device as this, between `from` and now, without a turn.
  void charge_outside(TenantId id, Duration used, Time from, Time now);
  /// Of each tenant with sessions, its share by weight beside those that use the device: that have used it in
  /// turns since begin_activity(), use it, or wait for it now. 1 where there are no others.
  std::unordered_map<TenantId, double> shares() const;
  void begin_activity();
  /// Has the session count as broken, for a reason that goes on after "the worker ".
  void condemn(PlaceId id, const std::string& reason, Time now);

  /// Whether turns are remembered when they end, at most kMostTracedTurns until they are taken.
  void trace(bool on);
  /// Those since the last call, then the one in progress; `lost` is added to.
  std::vector<TracedTurn> take_traced(Time now, std::uint64_t& lost);

 private:
  using State = session::TurnState;

  struct Tenant {
    std::deque<PlaceId> waiting;  // its sessions that want the turn, first come first
    std::vector<PlaceId> sessions;
    std::uint32_t users = 0;  // sessions that have wanted the turn
    Duration device_time{0};
    Duration outside{0};   // of it
    Duration in_turns{0};  // of it, since begin_activity()
    UsageWindow window;
    sched::TenantAttributes attributes;
    WorkCounters ended;  // of its sessions that are gone
    Waits waits;
  };

  struct Session {
    TenantId tenant;
    session::DeviceTurn* turn = nullptr;
    ring::SegmentHeader* header = nullptr;
    ClaimedWork work{};
    Time waiting_since{};
    bool waiting = false;
    bool user = false;  // has wanted the turn
    bool broken = false;
    bool suspended = false;     // never waits meanwhile
    Duration waited{0};         // for the turn that it wanted when it was suspended
    std::uint64_t used_ns = 0;  // as last seen
    Duration charged{0};        // in its life
    ProcessorTimer timer{};     // of its worker
  };

  /// The turn in progress.
  struct Turn {
    PlaceId place;
    std::optional<Time> ends{};             // when it may be asked back; none: its worker ends it
    std::uint64_t commands;                 // the worker's counter at the grant
    Time wanted;                            // since when its session has waited for it
    Duration slice;                         // that its worker was told
    Time granted;                           // wall time since then is the most that can be charged
    Time charged_until;                     // what was used before then is charged
    Duration charged{0};                    // in this turn
    bool worked = false;                    // its worker has reported use
    std::optional<Time> contested{};        // others wait, or have waited, since then
    Duration before{0};                     // charged by then
    std::optional<Duration> ran{};          // of its worker's process, by then
    bool asked = false;                     // busy_asked
    bool announced = false;                 // to the worker that is likely to be next, that it will be over
    bool taken_back = false;                // not given back by its worker
    bool known_before = false;              // to the dispatcher before this one
    std::optional<Time> obstructs_since{};  // somebody waits since then, without a pause
  };

  static State load(const Session& session);
  static void switch_in(const Session& session);
  Session* find(PlaceId id);
  void report_broken(PlaceId id, Session& session, const std::string& reason, Time now,
                     bool held_too_long = false);
  void look_at_holder(Session& session, Time now);
  void start_waiting(PlaceId id, Session& session, Time now);
  void line_up(PlaceId id, Session& session, Time now);
  void suspend(PlaceId id, Session& session, Time now);
  void stop_waiting(PlaceId id, Session& session, Time now);
  void count_user(Session& session, bool user);
  void tell_company(const Session& session) const;
  void block_if_idle(TenantId id, Time now);
  void stop_keeping(Time now);
  void reclaim_turn(Time now);
  void watch_obstruction(Session& session, Time now);
  bool fresh(const Session& session, Time now) const;
  void end_turn(Session& session, State state, Time now);
  TracedTurn traced(Time now, bool over) const;
  void forget_turn(Time now);
  void grant_next(Time now);
  bool grant(PlaceId id, Session& session, const sched::Turn& turn, Time now);
  void contest(Time now);
  bool charge(PlaceId id, Session& session, Time now);
  void charge_least(Session& session, Time now);
  void charge_broken_off(Session& session, Time now);
  void book(Session& session, Duration used, Time now);
  std::optional<Duration> ran(const Session& session) const;
  static Duration under_way(const Session& session, Time now);

  std::unique_ptr<sched::Policy> policy_;
  sched::SliceRule slices_;
  unsigned processors_ = 0;
  ExcusedTime excused_;
  Duration hold_limit_{0};
  std::unordered_map<TenantId, Tenant> tenants_;
  std::unordered_map<PlaceId, Session> sessions_;
  std::size_t waiting_ = 0;             // sessions, of all tenants
  std::size_t wanting_ = 0;             // tenants with a session that waits
  std::optional<Time> unwanted_since_;  // nobody waits; what was before then is told to the policy
  Duration used_unwanted_{0};           // of the device, since then
  std::size_t users_ = 0;               // tenants with a session that has wanted the turn
  std::optional<Turn> turn_;
  std::optional<TenantId>
      kept_for_;  // nobody has the turn: the device is kept for this one until the deadline
  std::optional<Time> deadline_;
  std::vector<BrokenSession> broken_;
  bool tracing_ = false;
  std::vector<TracedTurn> traced_;
  std::uint64_t traced_lost_ = 0;
};

}  // namespace fairgv::daemon
