// Everything that the daemon has counted, at one moment: the source of `fairgv ps`, the metrics and the usage
// store.
//
// Totals are of a tenant's life, sessions that have ended included, since the daemon came to know it: a
// restart (succession.hpp) takes them along; a tenant that is forgotten (Tenancies) begins anew.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "runtime/daemon/reports/sources.hpp"

namespace fairgv::daemon {

/// Of one tenant on one device.
struct DeviceBooks {
  DeviceUse use;
  double share = 0;                      // of everybody's use of late, 0 to 1
  double entitled_share = 0;             // of it now, 0 to 1
  std::chrono::nanoseconds entitled{0};  // to it, so far; 0 if it is elsewhere
  bool elsewhere = false;  // the device is the same hardware as one before it, in whose books everything is
  std::uint64_t memory_used = 0;
  memquota::Allowance memory;
  MemoryTotals memory_totals;
};

struct TenantEntry {
  Tenant tenant;
  std::uint32_t sessions = 0;  // that run
  std::uint32_t paused = 0;    // of them, those that may get no turn
  double entitled_share = 0;   // now, of the device of which it is most
  std::vector<DeviceBooks> devices;
};

struct Books {
  using Time = std::chrono::steady_clock::time_point;
  Time at;
  std::vector<TenantEntry> tenants;  // by name; all that are known
};

/// Charges running turns up to now.
Books read_books(const Sources& from);

}  // namespace fairgv::daemon
