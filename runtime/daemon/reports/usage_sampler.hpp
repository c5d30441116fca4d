// The use of tenants since the last look, computed from totals that only grow.
//
// Pure logic, not thread-safe; time is an argument.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/reports/books.hpp"
#include "runtime/usage/store.hpp"

namespace fairgv::daemon {

class UsageSampler {
 public:
  /// `now_ms`: since 1970. The first interval begins here.
  explicit UsageSampler(std::int64_t now_ms) : last_ms_(now_ms) {}

  /// One row for each tenant and device with any use since the last call, until `now_ms`. `device_names` by
  /// index.
  std::vector<usage::Row> sample(const Books& books, const std::vector<std::string>& device_names,
                                 std::int64_t now_ms);

  /// A tenant's totals as they were last sampled, by device: for a daemon after this one, which goes on from
  /// there.
  std::vector<usage::UsageAmounts> sampled(TenantId id) const;
  void restore(TenantId id, std::vector<usage::UsageAmounts> sampled) { seen_[id] = std::move(sampled); }

 private:
  std::unordered_map<TenantId, std::vector<usage::UsageAmounts>> seen_;  // by device
  std::int64_t last_ms_;
};

/// A tenant's totals on a device.
usage::UsageAmounts totals_of(const TenantEntry& entry, std::size_t device);

}  // namespace fairgv::daemon
