// The dispatchers of all devices, and the sessions that have places at them.
//
// One Dispatcher per device. Devices that are the same hardware share that of the first of them, the others'
// stay unused: their time is in the first one's books. A tenant is entitled to its share while it has
// sessions that may run.
//
// Pure logic beside the shared pages, time is an argument. Not thread-safe: the dispatch loop has them under
// its lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/books/entitlement.hpp"
#include "runtime/daemon/books/work_counters.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/devices/view.hpp"
#include "runtime/daemon/dispatch/dispatcher.hpp"
#include "runtime/ring/segment.hpp"

namespace fairgv::daemon {

/// What dispatching uses of a session. The memory must stay valid until remove_session() has returned.
struct DispatchedSession {
  SessionId id;
  TenantId tenant;
  std::uint32_t weight = sched::kDefaultWeight;
  session::TurnPage* turns = nullptr;  // device i of the worker at index i
  ring::SegmentHeader* header = nullptr;
  int knock_fd = -1;     // the eventfd; stays the caller's
  DeviceView devices{};  // that its worker sees
  /// Its worker's process, so far; called by the loop's thread.
  ProcessorTimer ran{};
  bool suspended = false;
};

/// The books of a session that goes on under another dispatcher, by the host's devices.
struct SessionBooks {
  std::vector<std::uint64_t> used_ns;             // that was charged
  std::vector<WorkCounters> work;                 // that was believed
  std::vector<std::optional<TurnBooks>> turns{};  // that it has
};

class DeviceDispatchers {
 public:
  using Time = sched::Time;

  struct Member {
    TenantId tenant;
    int knock_fd;
    DeviceView devices;
    bool suspended = false;
  };

  explicit DeviceDispatchers(DeviceRules rules) : rules_(std::move(rules)) {}

  // -- devices

  /// Policies change where their names do.
  void set_rules(DeviceRules rules, Time now);
  /// On one device, or on all; until set_rules().
  void set_policy(const std::string& policy, std::optional<std::uint32_t> device, Time now);
  /// One more, behind the others; `hardware` is the first that is the same, or itself.
  Dispatcher& add(std::uint32_t hardware);
  /// Forgets everything, tenants too. Only without sessions.
  void clear();
  /// Whether turns are remembered when they end.
  void trace(bool on);

  std::vector<Dispatcher>& all() { return dispatchers_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(dispatchers_.size()); }
  std::uint32_t hardware_of(std::uint32_t device) const { return hardware_[device]; }
  /// The one that has the device's turns.
  Dispatcher& of(std::uint32_t device) { return dispatchers_[hardware_[device]]; }
  const DeviceRule& rule(std::uint32_t device) const { return rules_.of(device); }

  // -- sessions

  void add_session(const DispatchedSession& session, Time now);
  /// The same for a session that another process has served before.
  void adopt_session(const DispatchedSession& session, const SessionBooks& books, Time now);
  void remove_session(SessionId id, Time now);
  /// False if there is nothing to change. `weight` is its tenant's.
  bool set_suspended(SessionId id, bool suspended, std::uint32_t weight, Time now);
  /// Null: there is none.
  const Member* find(SessionId id) const;
  /// Calls visit(dispatcher, place) for each device that the session's worker sees.
  template <class Visit>
  void at_places(SessionId id, Visit visit) {
    const Member* const member = find(id);
    if (member == nullptr) return;
    for (const std::uint32_t device : member->devices.all()) visit(of(device), PlaceId(id, device));
  }

  // -- tenants

  void set_weight(TenantId id, std::uint32_t weight, Time now);
  bool knows(TenantId id) const;
  bool may_forget(TenantId id) const;
  void forget(TenantId id, Time now);
  const Entitlement& entitlement() const { return entitlement_; }
  /// Of a daemon before this one, by device.
  void restore_books(TenantId id, const std::vector<TenantBooks>& books, std::uint32_t weight,
                     std::chrono::nanoseconds entitled, Time now);

 private:
  void go_by_rule(std::uint32_t device, const DeviceRule& before, Time now);
  void join(const DispatchedSession& session, Time now);
  void enter(TenantId id, std::uint32_t weight, Time now);
  void leave(TenantId id, Time now);

  DeviceRules rules_;
  std::vector<Dispatcher> dispatchers_;  // by device
  std::vector<std::uint32_t> hardware_;  // by device: the first of those that are the same
  bool tracing_ = false;
  Entitlement entitlement_;
  std::unordered_map<TenantId, std::uint32_t> members_;  // sessions that may run, of each tenant that has any
  std::unordered_map<SessionId, Member> sessions_;
};

}  // namespace fairgv::daemon
