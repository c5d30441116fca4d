// The thread that hands the devices around: it sleeps until a worker knocks, and grants the next turn within
// microseconds, whatever the sockets' thread is doing.
//
// One Dispatcher per device, all under one mutex that is held for microseconds. Each session brings an
// eventfd that its worker knocks on by writing a session::Knock: to an eventfd these eight bytes are a number
// to add, so knocks never fill anything up, there is nothing in them to believe, and a worker that writes
// nonsense wakes us for its own session only. When nothing happens, the thread sleeps without a timeout.
//
// All methods may be called from any thread; the server's thread calls them.
#pragma once

#include <time.h>

#include <sched.h>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/config.hpp"
#include "runtime/daemon/dispatcher.hpp"
#include "runtime/ring/segment.hpp"

namespace fairgv::daemon {

/// What the loop uses of a session. The memory must stay valid until remove_session() has returned.
struct DispatchedSession {
  SessionId id;
  TenantId tenant;
  std::uint32_t weight = sched::kDefaultWeight;
  session::TurnPage* turns = nullptr;  // device i of the worker at index i
  ring::SegmentHeader* header = nullptr;
  int knock_fd = -1;  // the eventfd; stays the caller's
};

/// A tenant's use of each device at one moment.
struct TenantUsage {
  std::vector<std::chrono::nanoseconds> device_time;  // in its life
  std::vector<std::chrono::nanoseconds> recent;       // as UsageWindow has it
  WorkCounters counters;                              // of all devices
};

class DispatchLoop {
 public:
  static Result<std::unique_ptr<DispatchLoop>> start(DeviceRules rules);
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
  void reset_devices(std::size_t count);

  Result<void> add_session(const DispatchedSession& session);
  /// The same for a session that another process has served before: `used_ns` by device, as from freeze().
  /// Then resume().
  Result<void> adopt_session(const DispatchedSession& session, const std::vector<std::uint64_t>& used_ns);
  /// Grants and asks from now on, after the last adopt_session().
  void resume();
  /// Stops the thread: turns stay as they are, and nobody grants or asks until thaw(). For a process that
  /// is about to be replaced; looking is allowed meanwhile.
  void freeze();
  void thaw();
  /// By device, of a tenant or session that is known; and the tenant's past given back.
  std::vector<TenantBooks> books(TenantId id);
  void restore_books(TenantId id, const std::vector<TenantBooks>& books, std::uint32_t weight);
  std::vector<std::uint64_t> charged_ns(SessionId id);

  /// The session's worker is dead. Its turn, if it had one, is the next one's when this returns.
  void remove_session(SessionId id);
  void set_weight(TenantId id, std::uint32_t weight);
  /// Forgets the tenant on every device, unless it has sessions or debt; tells whether.
  bool forget_if_clear(TenantId id);

  /// Readable when there are sessions to take.
  int broken_fd() const { return broken_event_.get(); }
  /// Sessions that broke the turn protocol, or held a device for too long. Kill their workers, then remove
  /// them.
  std::vector<BrokenSession> take_broken();

  /// How each device is shared.
  std::vector<DeviceRule> rules();
  /// By device: who has the turn.
  std::vector<std::optional<SessionId>> holders();
  /// The session's most active state on any device.
  session::TurnState state(SessionId id);
  /// On any device; see Dispatcher.
  bool interactive(SessionId id);
  /// All tenants' usage at the same moment; an empty one for a tenant that is not known yet.
  std::unordered_map<TenantId, TenantUsage> usage(const std::vector<TenantId>& tenants);

 private:
  using Time = Dispatcher::Time;

  DispatchLoop(DeviceRules rules, ring::UniqueFd epoll, ring::UniqueFd wake, ring::UniqueFd broken);
  void start_thread();
  Result<void> watch_knocks(const DispatchedSession& session);
  void run();
  std::optional<timespec> time_left();
  void handle_knock(std::uint64_t key, Time now);
  void wake();
  void collect_broken();
  void adopt(std::uint32_t device, const DeviceRule& before);

  std::mutex mutex_;
  DeviceRules rules_;
  std::vector<Dispatcher> dispatchers_;  // by device
  std::unordered_map<SessionId, int> knock_fds_;
  std::vector<BrokenSession> broken_;
  ring::UniqueFd epoll_;
  ring::UniqueFd wake_;                       // eventfd: something changed from outside, or the end
  ring::UniqueFd broken_event_;               // eventfd
  std::atomic<std::uint64_t> loop_turns_{0};  // relaxed: it orders nothing
  std::atomic<bool> stopping_{false};         // release before the wake, acquire after it
  std::thread thread_;
};

}  // namespace fairgv::daemon
