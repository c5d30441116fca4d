#include "runtime/daemon/reports/usage_sampler.hpp"

#include <algorithm>

namespace fairgv::daemon {
namespace {

/// Totals grow, but for devices that were changed while nobody used them: then they began anew.
template <class Number>
Number growth(Number from, Number to) {
  return to >= from ? to - from : to;
}

usage::UsageAmounts growth(const usage::UsageAmounts& from, const usage::UsageAmounts& to) {
  return {.device_ns = growth(from.device_ns, to.device_ns),
          .entitled_ns = growth(from.entitled_ns, to.entitled_ns),
          .memory_byte_s = growth(from.memory_byte_s, to.memory_byte_s),
          .commands = growth(from.commands, to.commands),
          .launches = growth(from.launches, to.launches),
          .slices = growth(from.slices, to.slices),
          .bytes = growth(from.bytes, to.bytes)};
}

}  // namespace

usage::UsageAmounts totals_of(const TenantEntry& entry, std::size_t device) {
  const DeviceBooks& books = entry.devices[device];
  const WorkCounters& work = books.use.work;
  return {.device_ns = static_cast<std::uint64_t>(books.use.device_time.count()),
          .entitled_ns = static_cast<std::uint64_t>(books.entitled.count()),
          .memory_byte_s = books.memory_totals.byte_seconds,
          .commands = work.commands,
          .launches = work.launches,
          .slices = work.slices,
          .bytes = work.bytes};
}

std::vector<usage::Row> UsageSampler::sample(const Books& books, const std::vector<std::string>& device_names,
                                             std::int64_t now_ms) {
  // The wall clock may have been set back.
  const std::int64_t begin_ms = std::min(last_ms_, now_ms);
  last_ms_ = now_ms;
  std::unordered_map<TenantId, std::vector<usage::UsageAmounts>> seen;
  std::vector<usage::Row> rows;
  for (const TenantEntry& entry : books.tenants) {
    const auto before = seen_.find(entry.tenant.id);
    std::vector<usage::UsageAmounts>& now = seen[entry.tenant.id];
    for (std::size_t device = 0; device < entry.devices.size(); ++device) {
      now.push_back(totals_of(entry, device));
      const bool known = before != seen_.end() && device < before->second.size();
      const usage::UsageAmounts used =
          growth(known ? before->second[device] : usage::UsageAmounts{}, now.back());
      if (used == usage::UsageAmounts{}) continue;
      rows.push_back({begin_ms, now_ms, entry.tenant.name, entry.tenant.uid,
                      static_cast<std::uint32_t>(device),
                      device < device_names.size() ? device_names[device] : "", used});
    }
  }
  seen_ = std::move(seen);
  return rows;
}

std::vector<usage::UsageAmounts> UsageSampler::sampled(TenantId id) const {
  const auto found = seen_.find(id);
  return found == seen_.end() ? std::vector<usage::UsageAmounts>() : found->second;
}

}  // namespace fairgv::daemon
