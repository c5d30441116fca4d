// The thread that hands the devices around: it sleeps until a worker knocks, and grants the next turn within
// microseconds, whatever the sockets' thread is doing.
//
// Each session brings an eventfd that its worker knocks on (session::knock()). The worker shares the open
// file, and so controls the flag that says whether a read blocks and the counter to be read: the loop
// therefore never reads the eventfd. epoll reports every write as an edge; a worker that writes nonsense
// wakes the loop for its own session only. When nothing happens, the thread sleeps without a timeout; it
// polls where it expects a turn to end (Dispatcher::end_expected()).
//
// All methods may be called from any thread; the server's thread calls them. DispatchLooks reads the state.
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

struct TenantCap {
  TenantId id;
  std::optional<sched::Share> cap{};
};

class DispatchLoop {
 public:
  static constexpr std::chrono::seconds kProcessorLook{1};

  /// `wake_latency_file`: tests name another file than the system's.
  static Result<std::unique_ptr<DispatchLoop>> start(DeviceRules rules,
                                                     std::string wake_latency_file = WakeLatency::kFile);
  ~DispatchLoop();
  DispatchLoop(const DispatchLoop&) = delete;
  DispatchLoop& operator=(const DispatchLoop&) = delete;

  // -- the thread

  /// The number of times that the loop has turned, for a watchdog; nudge() makes it turn once more, also when
  /// nothing happens.
  std::uint64_t turns() const { return loop_turns_.load(std::memory_order_relaxed); }
  void nudge() { wake_.raise(); }
  /// Sets the cores that the thread runs on from now on. If the system refuses, the thread stays where it is.
  void run_on(const cpu_set_t& cores);
  /// Stops the thread: turns stay as they are, and no turn is granted or asked for until thaw(). For a
  /// process that is about to be replaced; looking is allowed meanwhile.
  void freeze();
  void thaw();
  /// Readable when there are sessions to take.
  int broken_fd() const { return state_.broken.fd(); }
  /// Sessions that broke the turn protocol, or held a device for too long. Kill their workers, then remove
  /// the sessions.
  std::vector<BrokenSession> take_broken();
  /// The sharing of devices, and their past use.
  DispatchLooks& looks() { return looks_; }

  // -- devices

  /// Sets the rules of a configuration that was read again. A device changes its policy only where the
  /// policy's name changes.
  void set_rules(DeviceRules rules);
  /// `fairgv set --policy`: sets the policy of one device, or of all. The name must be known. Holds until
  /// set_rules().
  void set_policy(const std::string& policy, std::optional<std::uint32_t> device);
  /// Forgets everything, including tenants. Only without sessions.
  void reset_devices();
  /// Adds a device behind the others, for sessions to come. `processors`: the host's processors that the
  /// device consists of; none: the device has its own. `same_as`: the first of the earlier devices that is
  /// the same hardware; none: there is no such device.
  void add_device(const std::optional<cpu_set_t>& processors = {}, std::optional<std::uint32_t> same_as = {},
                  std::uint64_t bytes = 0);
  /// See ProcessorCharges::charge(): about every kProcessorLook where any device runs on the host's
  /// processors.
  void account_processors(const std::vector<ProcessorTime>& times);

  // -- sessions

  Result<void> add_session(const DispatchedSession& session);
  /// Adds a session that another process has served before, with its books as that process had them after
  /// freeze(). Call resume() afterwards.
  Result<void> adopt_session(const DispatchedSession& session, const SessionBooks& books);
  /// Grants and asks from now on. Call it after the last adopt_session().
  void resume();
  /// Another worker serves the session from now on, perhaps on other devices. The worker before it has
  /// nothing under way and begins nothing more.
  void move_session(const DispatchedSession& session);
  /// The session's worker is dead; its processes have run for `ran` in their lives, if that is known. If the
  /// session had a turn, the next session has it when this returns.
  void remove_session(SessionId id, std::optional<std::chrono::nanoseconds> ran = {});
  /// Sets whether the session gets no turn on any device until it is resumed. A tenant none of whose sessions
  /// may run is entitled to nothing meanwhile; `attributes` are the tenant's.
  void set_suspended(SessionId id, bool suspended, const sched::TenantAttributes& attributes);

  // -- tenants

  void set_attributes(TenantId id, const sched::TenantAttributes& attributes);
  /// Sets ceilings that hold on one device instead of their tenants' own; none: their own again.
  void set_caps(std::uint32_t device, const std::vector<TenantCap>& caps);
  /// Forgets the tenant on every device if nothing is lost by that; returns whether it did.
  bool forget_if_clear(TenantId id);
  /// The past of a tenant under an earlier daemon, by device.
  void restore_books(TenantId id, const std::vector<TenantBooks>& books,
                     const sched::TenantAttributes& attributes,
                     const std::vector<std::chrono::nanoseconds>& entitled = {});

 private:
  using Time = sched::Time;

  DispatchLoop(DeviceRules rules, std::string wake_latency_file, UniqueFd epoll, EventSignal wake,
               EventSignal broken);
  void start_thread();
  void run();
  std::optional<timespec> time_left();
  // The mutex is held for:
  Result<void> watch_knocks(const DispatchedSession& session);
  void limit_wake_latency(Time now);
  void handle_knock(std::uint64_t key, Time now);
  void after_change();

  DispatchState state_;
  DispatchLooks looks_{state_};
  WakeLatency wake_latency_;  // used by the thread alone
  UniqueFd epoll_;
  EventSignal wake_;                          // something changed from outside, or the end
  std::atomic<std::uint64_t> loop_turns_{0};  // relaxed: it orders nothing
  std::atomic<bool> stopping_{false};         // release before the wake, acquire after it
  std::thread thread_;
};

}  // namespace fairgv::daemon
