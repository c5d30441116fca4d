// The dispatchers of all devices, and the sessions that have places at them.
//
// Each device has one Dispatcher. Devices that are the same hardware share the dispatcher of the first of
// them, and the dispatchers of the others stay unused: all device time is in the books of the first. A tenant
// is entitled to its share of a device while it has sessions that may run there. Sessions have no places at
// devices that are hidden from them: never a turn, and no part in anything there.
//
// Pure logic beside the shared pages; time is an argument. Not thread-safe: the dispatch loop keeps this
// object under its lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/books/entitlement.hpp"
#include "runtime/daemon/books/work_counters.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/devices/view.hpp"
#include "runtime/daemon/dispatch/dispatcher.hpp"
#include "runtime/ring/segment.hpp"

namespace fairgv::daemon {

/// The part of a session that dispatching uses. The memory must stay valid until remove_session() has
/// returned.
struct DispatchedSession {
  SessionId id;
  TenantId tenant;
  sched::TenantAttributes attributes{};
  session::TurnPage* turns = nullptr;         // device i of the worker at index i
  session::TurnPromises* promises = nullptr;  // the same; null: an earlier release began the session
  ring::SegmentHeader* header = nullptr;
  int knock_fd = -1;     // the eventfd; it stays the caller's
  DeviceView devices{};  // the devices that the session's worker sees; hidden ones count for nothing
  /// Of them, those where the session has its objects, which alone are due to its tenant; none: all that are
  /// not hidden.
  std::optional<DeviceView> homes{};
  WorkerHandle worker{};  // used by the loop's thread
  bool suspended = false;
  /// Processor time of the session's program so far, called likewise; empty if the program cannot be seen.
  ProcessorTimer program{};
  session::Residencies* residencies = nullptr;  // as `promises`
};

/// The books of a session that goes on under another dispatcher, by the host's devices.
struct SessionBooks {
  std::vector<std::uint64_t> used_ns;             // device time that was charged
  std::vector<WorkCounters> work;                 // work that was believed
  std::vector<std::optional<TurnBooks>> turns{};  // the turn that the session has
};

class DeviceDispatchers {
 public:
  using Time = sched::Time;

  struct Member {
    TenantId tenant;
    int knock_fd;
    DeviceView devices;  // where it has places
    DeviceView homes;    // where it may run
    bool suspended = false;
  };

  explicit DeviceDispatchers(DeviceRules rules) : rules_(std::move(rules)) {}

  // -- devices

  /// A device changes its policy only where the policy's name changes.
  void set_rules(DeviceRules rules, Time now);
  /// Sets the policy of one device, or of all; it holds until set_rules().
  void set_policy(const std::string& policy, std::optional<std::uint32_t> device, Time now);
  /// Adds a device behind the others; `hardware` is the first device that is the same hardware, or the device
  /// itself. `bytes`: of memory that it has; 0: unknown.
  Dispatcher& add(std::uint32_t hardware, std::uint64_t bytes = 0);
  /// Forgets everything, including tenants. Only without sessions.
  void clear();
  /// Whether turns are remembered when they end.
  void trace(bool on);

  std::vector<Dispatcher>& all() { return dispatchers_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(dispatchers_.size()); }
  std::uint32_t hardware_of(std::uint32_t device) const { return hardware_[device]; }
  /// The dispatcher that gives out the device's turns.
  Dispatcher& of(std::uint32_t device) { return dispatchers_[hardware_[device]]; }
  const DeviceRule& rule(std::uint32_t device) const { return rules_.of(device); }
  /// Whether a device has this policy, or would have it if it were there.
  bool goes_by(std::string_view policy) const;

  // -- sessions

  void add_session(const DispatchedSession& session, Time now);
  /// Adds a session that another process has served before.
  void adopt_session(const DispatchedSession& session, const SessionBooks& books, Time now);
  /// Another worker serves the session from now on, perhaps on other devices; see Dispatcher.
  void move_session(const DispatchedSession& session, Time now);
  void remove_session(SessionId id, Time now);
  /// Returns false if there is nothing to change. `attributes` are the tenant's.
  bool set_suspended(SessionId id, bool suspended, const sched::TenantAttributes& attributes, Time now);
  /// Null if there is no such session.
  const Member* find(SessionId id) const;
  /// Calls visit(dispatcher, place) for each device that the session may use.
  template <class Visit>
  void at_places(SessionId id, Visit visit) {
    const Member* const member = find(id);
    if (member == nullptr) return;
    for (std::size_t i = 0; i < member->devices.size(); ++i) {
      const std::uint32_t device = member->devices.host(i);
      if (!member->devices.hides(i)) visit(of(device), PlaceId(id, device));
    }
  }

  // -- tenants

  void set_attributes(TenantId id, const sched::TenantAttributes& attributes, Time now);
  bool knows(TenantId id) const;
  bool may_forget(TenantId id) const;
  void forget(TenantId id, Time now);
  /// To the device, or to the hardware that it is.
  const Entitlement& entitlement(std::uint32_t device) const { return dues_[hardware_[device]].entitlement; }
  /// Restores the books that an earlier daemon kept of the tenant, by device.
  void restore_books(TenantId id, const std::vector<TenantBooks>& books,
                     const sched::TenantAttributes& attributes,
                     const std::vector<std::chrono::nanoseconds>& entitled, Time now);

 private:
  void go_by_rule(std::uint32_t device, const DeviceRule& before, Time now);
  void join(const DispatchedSession& session, Time now);
  void add_place(const DispatchedSession& session, std::size_t device, Time now);
  static Member member_of(const DispatchedSession& session);
  static bool is_suspended_at(const Member& member, std::size_t device) {
    return member.suspended || member.homes.hides(device);
  }
  static Dispatcher::SessionPages pages(const DispatchedSession& session, std::size_t device);
  /// The shares of one device that are due to tenants.
  struct Dues {
    Entitlement entitlement{};
    std::unordered_map<TenantId, std::uint32_t> members{};  // by tenant: sessions that may run there
  };
  template <class Visit>
  void at_dues(const DeviceView& devices, Visit visit);
  void enter(const Member& member, const sched::TenantAttributes& attributes, Time now);
  void leave(const Member& member, Time now);

  DeviceRules rules_;
  std::vector<Dispatcher> dispatchers_;  // by device
  std::vector<std::uint32_t> hardware_;  // by device: the first device that is the same hardware
  std::vector<std::uint64_t> bytes_;     // by device
  bool tracing_ = false;
  std::vector<Dues> dues_;  // by device; of the same hardware only the first's are used
  std::unordered_map<SessionId, Member> sessions_;
};

}  // namespace fairgv::daemon
