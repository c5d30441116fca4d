// Use of a CPU device's processors without a turn, by tenant: the daemon's readings of the kernel's clocks,
// compared with what the turns have paid.
//
// One book for the host. A session's reading covers its whole life, so nothing is lost between two looks,
// whenever they are made. The use found by each look goes to the session's tenant (ProcessorUse).
//
// Pure logic; time is an argument. Not thread-safe: the dispatching loop owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/books/processor_use.hpp"
#include "runtime/daemon/tenants/ids.hpp"

namespace fairgv::daemon {

class ProcessorBook {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  /// Of a session, in its life.
  struct Reading {
    SessionId session;
    TenantId tenant;
    Duration ran{0};   // processor time of all its processes
    Duration paid{0};  // device time that its turns were charged, and will be for what is under way
    std::uint32_t compiled_ms = 0;  // its compile clock's reading
  };

  struct Finding {
    TenantId tenant;
    Duration charged{0};  // of the device's time, since `from`
    Time from;
    Duration overdraft{0};
    SessionId most;  // the one of the tenant's sessions that ran the most beyond what it paid
  };

  /// The session has run before: the previous daemon has charged the use in its first reading.
  void go_on(SessionId id) { seen_[id].reset(); }

  /// `share`: the tenant's share of the device while others use it; 1 while nobody else does. There is a
  /// finding for each tenant in the readings.
  std::vector<Finding> look(const std::vector<Reading>& readings,
                            const std::function<double(TenantId)>& share, unsigned processors, Time now);

  void forget_session(SessionId id) { seen_.erase(id); }
  /// Whether forgetting the tenant loses none of its use.
  bool may_forget(TenantId id, Time now) const;
  void forget_tenant(TenantId id) { tenants_.erase(id); }

 private:
  struct Seen {
    Duration ran{0};
    Duration paid{0};
    std::uint32_t compiled_ms = 0;
    std::optional<Time> at{};  // none: the first reading is of its life up to then
  };
  struct Tenant {
    ProcessorUse use;
    Time looked;
  };

  std::unordered_map<SessionId, std::optional<Seen>> seen_;  // none: the first reading only begins
  std::unordered_map<TenantId, Tenant> tenants_;
};

}  // namespace fairgv::daemon
