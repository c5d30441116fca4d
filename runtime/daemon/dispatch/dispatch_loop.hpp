// The thread that hands the devices around: it sleeps until a worker knocks, and grants the next turn within
// microseconds, whatever the sockets' thread is doing.
//
// One Dispatcher per device, all under one mutex that is held for microseconds. Devices that are the same
// hardware share that of the first of them, the others' stay unused: their time is in the first one's books.
// Each session brings an
// eventfd that its worker knocks on (session::knock()). The worker shares that open file, and with it the
// flag that says whether a read blocks and the counter that there is to read: so the loop never reads it.
// epoll reports every write as an edge; a worker that writes nonsense wakes us for its own session only. When
// nothing happens, the thread sleeps without a timeout; it polls where it expects a turn to end
// (Dispatcher::end_expected()).
//
// All methods may be called from any thread; the server's thread calls them.
#pragma once

#include <time.h>

#include <sched.h>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/base/processor_ticks.hpp"
#include "runtime/daemon/books/entitlement.hpp"
#include "runtime/daemon/books/processor_book.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/devices/view.hpp"
#include "runtime/daemon/dispatch/dispatcher.hpp"
#include "runtime/daemon/dispatch/wake_latency.hpp"
#include "runtime/ring/segment.hpp"

namespace fairgv::daemon {

/// What the loop uses of a session. The memory must stay valid until remove_session() has returned.
struct DispatchedSession {
  SessionId id;
  TenantId tenant;
  std::uint32_t weight = sched::kDefaultWeight;
  session::TurnPage* turns = nullptr;  // device i of the worker at index i
  ring::SegmentHeader* header = nullptr;
  int knock_fd = -1;     // the eventfd; stays the caller's
  DeviceView devices{};  // that its worker sees
  /// Its worker's process, so far; called by the loop's thread.
  Dispatcher::ProcessorTimer ran{};
  bool suspended = false;
};

/// A tenant's use of each device at one moment.
struct TenantUsage {
  std::vector<DeviceUse> devices;
  double share = 0;                      // of each device, that its weight gives it now: 0 to 1
  std::chrono::nanoseconds entitled{0};  // the time of each device that it was entitled to in its life
};

/// The books of a session that goes on under another dispatcher, by the host's devices.
struct SessionBooks {
  std::vector<std::uint64_t> used_ns;             // that was charged
  std::vector<WorkCounters> work;                 // that was believed
  std::vector<std::optional<TurnBooks>> turns{};  // that it has
};

/// Processor time of the host that a session's processes have used in their lives, by the kernel's clocks.
struct ProcessorTime {
  SessionId session;
  std::chrono::nanoseconds ran{0};
};

class DispatchLoop {
 public:
  /// `wake_latency_file`: another one than the system's is for tests.
  static Result<std::unique_ptr<DispatchLoop>> start(DeviceRules rules,
                                                     std::string wake_latency_file = WakeLatency::kFile);
  ~DispatchLoop();
  DispatchLoop(const DispatchLoop&) = delete;
  DispatchLoop& operator=(const DispatchLoop&) = delete;

  /// How often the loop has turned, for a watchdog; nudge() has it turn once more, also when nothing happens.
  std::uint64_t turns() const { return loop_turns_.load(std::memory_order_relaxed); }
  void nudge() { wake(); }

  /// From a configuration that was read again. Policies change where their names do.
  void set_rules(DeviceRules rules);
  /// Where the thread runs from now on. A wish: if the system refuses, it stays where it is.
  void run_on(const cpu_set_t& cores);
  /// `fairgv set --policy`: on one device, or on all. The name must be known. Holds until set_rules().
  void set_policy(const std::string& policy, std::optional<std::uint32_t> device);
  /// Forgets everything, tenants too. Only without sessions.
  void reset_devices();
  /// One more device, behind the others, for sessions to come. `processors`: those of the host that the
  /// device is; none: it has its own. `same_as`: the first of the devices before it that are the same
  /// hardware; none: it is the first.
  void add_device(const std::optional<cpu_set_t>& processors = {}, std::optional<std::uint32_t> same_as = {});

  Result<void> add_session(const DispatchedSession& session);
  /// The same for a session that another process has served before, with its books as from freeze(). Then
  /// resume().
  Result<void> adopt_session(const DispatchedSession& session, const SessionBooks& books);
  /// Grants and asks from now on, after the last adopt_session().
  void resume();
  /// Stops the thread: turns stay as they are, and nobody grants or asks until thaw(). For a process that
  /// is about to be replaced; looking is allowed meanwhile.
  void freeze();
  void thaw();
  /// By device, of a tenant or session that is known; and the tenant's past given back.
  std::vector<TenantBooks> books(TenantId id);
  void restore_books(TenantId id, const std::vector<TenantBooks>& books, std::uint32_t weight,
                     std::chrono::nanoseconds entitled = {});
  std::chrono::nanoseconds entitled(TenantId id);
  SessionBooks session_books(SessionId id);

  /// The session's worker is dead; its processes have run for `ran` in their lives, if that is known. Its
  /// turn, if it had one, is the next one's when this returns.
  void remove_session(SessionId id, std::optional<std::chrono::nanoseconds> ran = {});
  /// Whether any device runs on the host's processors: then sessions' use of those is to be looked at, about
  /// every kProcessorLook, by account_processors().
  bool has_host_device();
  /// Charges what was used of the processors outside of turns (ProcessorUse), and what turns were excused
  /// from paying though nobody else had the processors (ExcusedTime). Sessions of tenants that use them
  /// beyond their share for longer than the device's hold limit count as broken.
  void account_processors(const std::vector<ProcessorTime>& times);
  static constexpr std::chrono::seconds kProcessorLook{1};
  void set_weight(TenantId id, std::uint32_t weight);
  /// Whether nothing is lost by forgetting the tenant: no sessions, and no debt.
  bool may_forget(TenantId id);
  /// Whether the session gets no turn on any device until it is resumed. A tenant none of whose sessions may
  /// run is entitled to nothing meanwhile; `weight` is the tenant's.
  void set_suspended(SessionId id, bool suspended, std::uint32_t weight);
  /// Forgets the tenant on every device if it may; tells whether.
  bool forget_if_clear(TenantId id);

  /// Readable when there are sessions to take.
  int broken_fd() const { return broken_event_.get(); }
  /// Sessions that broke the turn protocol, or held a device for too long. Kill their workers, then remove
  /// them.
  std::vector<BrokenSession> take_broken();

  /// How each device is shared.
  std::vector<DeviceRule> rules();
  /// By device: how long a turn is while as many tenants want it as want it now.
  std::vector<sched::Duration> slices();
  /// By device: who has the turn.
  std::vector<std::optional<SessionId>> holders();
  /// The session's most active state on any device.
  session::TurnState state(SessionId id);
  /// On any device; see Dispatcher.
  bool interactive(SessionId id);
  bool compiles(SessionId id);
  /// See Dispatcher; of the first of its devices for which a command waits.
  std::string waits_for(SessionId id);
  bool has_used_a_device(SessionId id);
  /// By device: what its worker has counted and was charged, in its life.
  std::vector<std::uint64_t> used_ns(SessionId id);
  /// All tenants' usage; none of a tenant that is not known yet. Looks at some tenants at a time, so that
  /// nobody who wants a turn waits for long: with many of them it is not all of the same instant.
  std::unordered_map<TenantId, TenantUsage> usage(const std::vector<TenantId>& tenants);
  /// Whether turns are remembered for take_traced().
  void trace(bool on);
  /// By device; see Dispatcher.
  std::vector<std::vector<TracedTurn>> take_traced(std::uint64_t& lost);

 private:
  using Time = Dispatcher::Time;

  DispatchLoop(DeviceRules rules, std::string wake_latency_file, UniqueFd epoll, UniqueFd wake,
               UniqueFd broken);
  void start_thread();
  /// With the mutex held.
  void append_dispatcher(const std::optional<cpu_set_t>& processors, std::uint32_t hardware);
  Dispatcher& dispatcher_of(std::uint32_t device) { return dispatchers_[hardware_[device]]; }
  /// Calls visit(dispatcher, place) for each device that the session's worker sees.
  template <class Visit>
  void at_places(SessionId id, Visit visit) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return;
    for (const std::uint32_t device : found->second.devices.all()) {
      visit(dispatcher_of(device), PlaceId(id, device));
    }
  }
  bool owes_nothing(TenantId id) const;
  std::optional<ProcessorBook::Reading> reading_of(const ProcessorTime& time, Time now);
  std::optional<std::uint32_t> host_device_of(SessionId id, Time now);
  void look_at_processors(const std::vector<ProcessorBook::Reading>& readings, std::uint32_t device,
                          Time now);
  void look_at_excuses(std::uint32_t device, const ProcessorTicks& ticks, Time now);
  Result<void> watch_knocks(const DispatchedSession& session);
  void run();
  std::optional<timespec> time_left();
  void limit_wake_latency(Time now);
  void handle_knock(std::uint64_t key, Time now);
  void wake();
  void collect_broken();
  void adopt(std::uint32_t device, const DeviceRule& before);
  void join(const DispatchedSession& session, Time now);
  void enter(TenantId id, std::uint32_t weight, Time now);
  void leave(TenantId id, Time now);

  std::mutex mutex_;
  bool tracing_ = false;
  DeviceRules rules_;
  std::vector<Dispatcher> dispatchers_;  // by device
  std::vector<std::uint32_t> hardware_;  // by device: the first of those that are the same
  /// A device that runs on the host's processors.
  struct HostDevice {
    cpu_set_t processors;
    unsigned count = 0;
    ProcessorTicks seen{};  // at the last look
    Time looked{};
  };
  std::vector<std::optional<HostDevice>> host_devices_;  // by device; of several that are the same, the first
  ProcessorStat processor_stat_;
  ProcessorBook processor_book_;
  Entitlement entitlement_;
  std::unordered_map<TenantId, std::uint32_t> members_;  // sessions that may run, of each tenant that has any
  struct Member {
    TenantId tenant;
    int knock_fd;
    DeviceView devices;
    bool suspended = false;
  };
  std::unordered_map<SessionId, Member> sessions_;
  std::vector<BrokenSession> broken_;
  WakeLatency wake_latency_;  // the thread's own
  UniqueFd epoll_;
  UniqueFd wake_;                       // eventfd: something changed from outside, or the end
  UniqueFd broken_event_;               // eventfd
  std::atomic<std::uint64_t> loop_turns_{0};  // relaxed: it orders nothing
  std::atomic<bool> stopping_{false};         // release before the wake, acquire after it
  std::thread thread_;
};

}  // namespace fairgv::daemon
