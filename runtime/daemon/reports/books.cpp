#include "runtime/daemon/reports/books.hpp"

#include <algorithm>
#include <unordered_map>

#include "runtime/daemon/sessions/suspensions.hpp"

namespace fairgv::daemon {
namespace {

/// A tenant that has not been let in yet, or not since the devices changed, has none.
std::vector<DeviceBooks> device_books(const Sources& from, const std::string& tenant,
                                      const TenantUsage* usage, Books::Time now) {
  const memquota::Ledger& ledger = from.tenancies.memory().ledger();
  const auto totals = from.tenancies.memory().totals(tenant, now);
  std::vector<DeviceBooks> list(from.devices.size());
  for (std::uint32_t device = 0; device < list.size(); ++device) {
    DeviceBooks& books = list[device];
    books.elsewhere = from.devices.is_elsewhere(device);
    if (usage != nullptr && device < usage->devices.size()) {
      books.use = usage->devices[device];
      books.entitled_share = usage->shares[device];
      if (!books.elsewhere) books.entitled = usage->entitled[device];
    }
    if (device >= ledger.devices()) continue;
    books.memory_used = ledger.charged(tenant, device);
    books.memory = ledger.allowance(tenant, device);
    books.memory_totals = totals[device];
  }
  return list;
}

/// Of each device, from what all tenants have used of late.
void fill_shares(Books& books, std::size_t devices) {
  for (std::size_t device = 0; device < devices; ++device) {
    double sum = 0;
    for (const TenantEntry& entry : books.tenants) {
      sum += static_cast<double>(entry.devices[device].use.recent.count());
    }
    if (sum <= 0) continue;
    for (TenantEntry& entry : books.tenants) {
      DeviceBooks& own = entry.devices[device];
      own.share = static_cast<double>(own.use.recent.count()) / sum;
    }
  }
}

}  // namespace

Books read_books(const Sources& from) {
  Books books{std::chrono::steady_clock::now(), {}};
  const std::vector<Tenant> tenants = from.tenancies.registry().all();
  std::vector<TenantId> ids;
  ids.reserve(tenants.size());
  for (const Tenant& tenant : tenants) ids.push_back(tenant.id);
  const auto usage = from.dispatch.usage(ids);
  std::unordered_map<TenantId, std::uint32_t> running, paused;
  for (const auto& [id, session] : from.sessions.all()) {
    if (session->stage != Session::Stage::running) continue;
    ++running[session->tenant];
    if (is_suspended(*session, from.tenancies.registry())) ++paused[session->tenant];
  }
  for (const Tenant& tenant : tenants) {
    const auto found = usage.find(tenant.id);
    const TenantUsage* const used = found == usage.end() ? nullptr : &found->second;
    TenantEntry& entry = books.tenants.emplace_back();
    entry.tenant = tenant;
    entry.sessions = running[tenant.id];
    entry.paused = paused[tenant.id];
    entry.devices = device_books(from, tenant.name, used, books.at);
    for (const DeviceBooks& device : entry.devices)
      entry.entitled_share = std::max(entry.entitled_share, device.entitled_share);
  }
  fill_shares(books, from.devices.size());
  return books;
}

}  // namespace fairgv::daemon
