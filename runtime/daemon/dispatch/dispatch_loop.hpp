// The thread that hands the devices around: it sleeps until a worker knocks, and grants the next turn within
// microseconds, whatever the sockets' thread is doing.
//
// Each session brings an eventfd that its worker knocks on (session::knock()). The worker shares that open
// file, and with it the flag that says whether a read blocks and the counter that there is to read: so the
// loop never reads it. epoll reports every write as an edge; a worker that writes nonsense wakes us for its
// own session only. When nothing happens, the thread sleeps without a timeout; it polls where it expects a
// turn to end (Dispatcher::end_expected()).
//
// All methods may be called from any thread; the server's thread calls them. Looking is DispatchLooks' part.
#pragma once

#include <sched.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/dispatch/dispatch_looks.hpp"
#include "runtime/daemon/dispatch/dispatch_state.hpp"
#include "runtime/daemon/dispatch/wake_latency.hpp"
#include "runtime/daemon/service/event_signal.hpp"

namespace fairgv::daemon {

class DispatchLoop {
 public:
  static constexpr std::chrono::seconds kProcessorLook{1};

  /// `wake_latency_file`: another one than the system's is for tests.
  static Result<std::unique_ptr<DispatchLoop>> start(DeviceRules rules,
                                                     std::string wake_latency_file = WakeLatency::kFile);
  ~DispatchLoop();
  DispatchLoop(const DispatchLoop&) = delete;
  DispatchLoop& operator=(const DispatchLoop&) = delete;

  // -- the thread

  /// How often the loop has turned, for a watchdog; nudge() has it turn once more, also when nothing happens.
  std::uint64_t turns() const { return loop_turns_.load(std::memory_order_relaxed); }
  void nudge() { wake_.raise(); }
  /// Where the thread runs from now on. A wish: if the system refuses, it stays where it is.
  void run_on(const cpu_set_t& cores);
  /// Stops the thread: turns stay as they are, and nobody grants or asks until thaw(). For a process that
  /// is about to be replaced; looking is allowed meanwhile.
  void freeze();
  void thaw();
  /// Readable when there are sessions to take.
  int broken_fd() const { return state_.broken.fd(); }
  /// Sessions that broke the turn protocol, or held a device for too long. Kill their workers, then remove
  /// them.
  std::vector<BrokenSession> take_broken();
  /// How devices are shared, and what was used.
  DispatchLooks& looks() { return looks_; }

  // -- devices

  /// From a configuration that was read again. Policies change where their names do.
  void set_rules(DeviceRules rules);
  /// `fairgv set --policy`: on one device, or on all. The name must be known. Holds until set_rules().
  void set_policy(const std::string& policy, std::optional<std::uint32_t> device);
  /// Forgets everything, tenants too. Only without sessions.
  void reset_devices();
  /// One more device, behind the others, for sessions to come. `processors`: those of the host that the
  /// device is; none: it has its own. `same_as`: the first of the devices before it that are the same
  /// hardware; none: it is the first.
  void add_device(const std::optional<cpu_set_t>& processors = {}, std::optional<std::uint32_t> same_as = {});
  /// See ProcessorCharges::charge(): about every kProcessorLook where any device runs on the host's
  /// processors.
  void account_processors(const std::vector<ProcessorTime>& times);

  // -- sessions

  Result<void> add_session(const DispatchedSession& session);
  /// The same for a session that another process has served before, with its books as it had them after
  /// freeze(). Then resume().
  Result<void> adopt_session(const DispatchedSession& session, const SessionBooks& books);
  /// Grants and asks from now on, after the last adopt_session().
  void resume();
  /// The session's worker is dead; its processes have run for `ran` in their lives, if that is known. Its
  /// turn, if it had one, is the next one's when this returns.
  void remove_session(SessionId id, std::optional<std::chrono::nanoseconds> ran = {});
  /// Whether the session gets no turn on any device until it is resumed. A tenant none of whose sessions may
  /// run is entitled to nothing meanwhile; `weight` is the tenant's.
  void set_suspended(SessionId id, bool suspended, std::uint32_t weight);

  // -- tenants

  void set_weight(TenantId id, std::uint32_t weight);
  /// Forgets the tenant on every device if it may; tells whether.
  bool forget_if_clear(TenantId id);
  /// The past of a tenant of a daemon before this one, by device.
  void restore_books(TenantId id, const std::vector<TenantBooks>& books, std::uint32_t weight,
                     std::chrono::nanoseconds entitled = {});

 private:
  using Time = sched::Time;

  DispatchLoop(DeviceRules rules, std::string wake_latency_file, UniqueFd epoll, EventSignal wake,
               EventSignal broken);
  void start_thread();
  void run();
  std::optional<timespec> time_left();
  // With the mutex held:
  Result<void> watch_knocks(const DispatchedSession& session);
  void limit_wake_latency(Time now);
  void handle_knock(std::uint64_t key, Time now);
  void after_change();

  DispatchState state_;
  DispatchLooks looks_{state_};
  WakeLatency wake_latency_;  // the thread's own
  UniqueFd epoll_;
  EventSignal wake_;                          // something changed from outside, or the end
  std::atomic<std::uint64_t> loop_turns_{0};  // relaxed: it orders nothing
  std::atomic<bool> stopping_{false};         // release before the wake, acquire after it
  std::thread thread_;
};

}  // namespace fairgv::daemon
