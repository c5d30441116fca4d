// Who may use one device now, and who pays for it: the daemon's half of the turn protocol (session/turn.hpp).
//
// Tenants are scheduled by start-time fair queuing (sched/fair_queue.hpp; FairGV, section 3.2.1); a tenant's
// sessions share its turns, first come first served. One session at a time has the turn:
//
// - While nobody else wants the device, the turn has no end (slice 0): a lone tenant is neither measured nor
//   interrupted, and keeps the turn between its commands (state `held`).
// - When somebody else comes, an unused turn is taken back at once, and one in use is asked for (busy_asked).
// - While several want it, a turn ends by itself after the slice, or earlier when its session has nothing to
//   issue (work conservation, section 3.2.2). The device time that the worker measured is charged then.
//
// - An interactive program gives its turn back with nothing to issue, only to come with its next kernel a
// moment
//   later. If its tenant is still the one to run next by its start tag, the device is kept for it for about
//   as long as its pauses last (anticipation). Else every pause would cost it a whole turn of somebody else,
//   and tenants would alternate whatever their weights.
//
// Invariant, kept by every call: when nobody has the turn, nobody wants it, or it is being kept for somebody.
//
// Nothing that a worker writes is believed: a state that the protocol does not allow makes the session
// broken; the time it reports may not go backwards and is capped by the time that it had the turn.
//
// Pure logic beside the shared page: no threads and no clock of its own. Not thread-safe; the owner is
// DispatchLoop. Workers move their turn's state at the same time, on the atomics of the page.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/ids.hpp"
#include "runtime/daemon/usage_window.hpp"
#include "runtime/ring/doorbell.hpp"
#include "runtime/session/turn.hpp"
#include "sched/fair_queue.hpp"

namespace fairgv::daemon {

/// What workers count on a device, for people to read.
struct WorkCounters {
  std::uint64_t commands = 0;
  std::uint64_t launches = 0;
  std::uint64_t samples = 0;
  std::uint64_t syncs = 0;

  WorkCounters& operator+=(const WorkCounters& other);
};

/// A session that broke the turn protocol, and how.
struct BrokenSession {
  SessionId session;
  std::string reason;
};

class Dispatcher {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = sched::Duration;

  /// A turn that was granted to a lone session this short a time ago is left alone, so that its worker can
  /// wake up and use it: else two sessions that come and go could take the turn from each other for ever.
  static constexpr std::chrono::milliseconds kFreshGrant{1};
  /// How often the holder is looked at while others wait, though it did not knock: a worker that was stopped
  /// before it used its turn must not keep the others waiting.
  static constexpr std::chrono::milliseconds kPatience{20};

  /// The longest time for which the device is kept idle for the tenant that is to run next.
  static constexpr std::chrono::microseconds kLongestAnticipation{500};

  explicit Dispatcher(Duration slice) : slice_(slice) {}

  /// For turns granted from now on.
  void set_slice(Duration slice) { slice_ = slice; }

  // -- tenants; they keep start tag, debt and totals while they have no session

  void add_tenant(TenantId id, std::uint32_t weight);
  void set_weight(TenantId id, std::uint32_t weight, Time now);
  /// Nothing is lost by forgetting it: no session, and no debt.
  bool may_forget(TenantId id) const;
  void forget_tenant(TenantId id);

  // -- sessions

  /// `turn` and `bell` are the session's; they must stay valid until remove_session(). The tenant must be
  /// known.
  void add_session(SessionId id, TenantId tenant, session::DeviceTurn& turn, ring::Doorbell& bell);
  /// The session is gone, with or without the turn; its worker no longer uses the device.
  void remove_session(SessionId id, Time now);
  /// Its worker knocked. Spurious and unknown knocks do no harm.
  void look(SessionId id, Time now);

  /// When expire() wants to be called, if nothing happens before. None while nobody waits.
  std::optional<Time> deadline() const { return deadline_; }
  void expire(Time now);

  /// Sessions that broke the protocol since the last call. They get no turn any more, but one that has the
  /// turn keeps it until remove_session(): kill the worker first.
  std::vector<BrokenSession> take_broken() { return std::exchange(broken_, {}); }

  // -- looking

  bool knows(TenantId id) const { return tenants_.contains(id); }
  std::optional<SessionId> holder() const;
  session::TurnState state(SessionId id) const;
  /// Device time charged to the tenant in its life. Call charge_holder() before for a value of this moment.
  Duration device_time(TenantId id) const { return tenants_.at(id).device_time; }
  /// Device time of late (see UsageWindow). A turn in progress counts as used so far.
  Duration recent_device_time(TenantId id, Time now) const;
  WorkCounters counters(TenantId id) const;
  /// Charges what the holder has used so far.
  void charge_holder(Time now);

 private:
  using State = session::TurnState;

  struct Tenant {
    std::deque<SessionId> waiting;  // its sessions that want the turn, first come first
    std::uint32_t sessions = 0;
    Duration device_time{0};
    UsageWindow window;
    Time blocked{};              // when it last ran out of work
    std::optional<Time> paused;  // when it gave its turn back with nothing to issue; none once it came back
    Duration pause{0};  // how long it took to come back: a running mean, up to twice the longest anticipation
    WorkCounters ended;  // of its sessions that are gone
  };

  struct Session {
    TenantId tenant;
    session::DeviceTurn* turn = nullptr;
    ring::Doorbell* bell = nullptr;
    bool waiting = false;
    bool broken = false;
    std::uint64_t used_ns = 0;  // as last seen
  };

  /// The turn in progress.
  struct Turn {
    SessionId session;
    bool alone = false;       // slice 0
    bool asked = false;       // busy_asked
    bool taken_back = false;  // not given back by its worker
    Time granted;             // wall time since then is the most that can be charged
    Time charged_until;       // what was used before then is charged
    Duration charged{0};      // in this turn
    std::uint64_t commands;   // the worker's counter at the grant
  };

  static State load(const Session& session);
  Session* find(SessionId id);
  void report_broken(SessionId id, Session& session, const std::string& reason);
  void look_at_holder(Session& session, Time now);
  void start_waiting(SessionId id, Session& session, Time now);
  void stop_waiting(SessionId id, Session& session);
  void block_if_idle(TenantId id, Time now);
  /// How far behind virtual time a tenant may come back: a slice after a pause of at most a slice, such as
  /// between two kernels of an interactive program; nothing after a longer sleep.
  Duration credit(const Tenant& tenant, Time now) const;
  void learn_pause(Tenant& tenant, Time now);
  bool worth_keeping_for(TenantId id) const;
  void stop_keeping(Time now);
  void reclaim_turn(Time now);
  bool fresh(const Session& session, Time now) const;
  void end_turn(Session& session, State state, Time now);
  void grant_next(Time now);
  bool grant(SessionId id, Session& session, Time now);
  bool charge(SessionId id, Session& session, Time now);

  Duration slice_;
  sched::FairQueue queue_;
  std::unordered_map<TenantId, Tenant> tenants_;
  std::unordered_map<SessionId, Session> sessions_;
  std::size_t waiting_ = 0;  // sessions, of all tenants
  std::optional<Turn> turn_;
  std::optional<TenantId>
      kept_for_;  // nobody has the turn: the device is kept for this one until the deadline
  std::optional<Time> deadline_;
  std::vector<BrokenSession> broken_;
};

}  // namespace fairgv::daemon
