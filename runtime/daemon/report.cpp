#include "runtime/daemon/report.hpp"

#include <unistd.h>

#include <algorithm>

namespace fairgv::daemon {
namespace {

using session::Report;
using Usage = std::unordered_map<TenantId, TenantUsage>;

const char* state_name(session::TurnState state) {
  switch (state) {
    case session::TurnState::idle:
      return "idle";
    case session::TurnState::wanting:
      return "wanting";
    case session::TurnState::held:
      return "held";
    case session::TurnState::busy:
    case session::TurnState::busy_asked:
      return "busy";
  }
  return "broken";
}

double in_ms(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::vector<Report::Device> device_reports(Host& host, const SessionTable& sessions) {
  const auto holders = host.dispatch.holders();
  const auto rules = host.dispatch.rules();
  std::vector<Report::Device> list;
  for (std::uint32_t index = 0; index < host.devices.size(); ++index) {
    Report::Device device{index,        host.devices[index].platform, host.devices[index].name,
                          std::nullopt, rules[index].policy,          in_ms(rules[index].slice)};
    const memquota::Ledger& ledger = host.memory.ledger();
    device.memory = ledger.capacity(index);
    device.memory_used = ledger.charged(index);
    device.memory_reserved = ledger.reserved(index);
    const auto& holder = holders[index];
    if (holder && sessions.all().contains(*holder)) device.holder = sessions.all().at(*holder)->tenant_name;
    list.push_back(std::move(device));
  }
  return list;
}

std::vector<Report::Session> session_reports(Host& host, const SessionTable& sessions, TenantId tenant) {
  std::vector<Report::Session> list;
  for (const auto& [id, session] : sessions.all()) {
    if (session->tenant != tenant || session->stage != Session::Stage::running) continue;
    list.push_back({id.value, session->peer.pid, session->program, session->worker.pid(),
                    state_name(host.dispatch.state(id)), host.dispatch.interactive(id),
                    session->long_commands.all()});
  }
  return list;
}

std::vector<double> recent_sums(const Usage& usage, std::size_t devices) {
  std::vector<double> sums(devices, 0.0);
  for (const auto& [id, tenant] : usage) {
    for (std::size_t device = 0; device < devices; ++device) {
      sums[device] += static_cast<double>(tenant.recent[device].count());
    }
  }
  return sums;
}

void fill_usage(Report::Tenant& report, const TenantUsage& usage, const std::vector<double>& sums) {
  for (std::size_t device = 0; device < sums.size(); ++device) {
    report.device_time_ns.push_back(static_cast<std::uint64_t>(usage.device_time[device].count()));
    const auto recent = static_cast<double>(usage.recent[device].count());
    report.share.push_back(sums[device] > 0 ? recent / sums[device] : 0.0);
  }
  report.commands = usage.counters.commands;
  report.launches = usage.counters.launches;
  report.samples = usage.counters.samples;
  report.syncs = usage.counters.syncs;
  report.checked_ns = usage.counters.checked_ns;
  report.by_events_ns = usage.counters.by_events_ns;
}

void fill_memory(Report::Tenant& report, const memquota::Ledger& ledger) {
  for (std::uint32_t device = 0; device < ledger.devices(); ++device) {
    const memquota::Allowance allowance = ledger.allowance(report.tenant, device);
    report.memory_used.push_back(ledger.charged(report.tenant, device));
    report.memory_limit.push_back(allowance.limit);
    report.memory_reserve.push_back(allowance.reserve);
  }
}

bool is_worth_showing(const Report::Tenant& tenant) {
  return !tenant.sessions.empty() ||
         std::any_of(tenant.share.begin(), tenant.share.end(), [](double share) { return share > 0; });
}

void fill_ideal_shares(std::vector<Report::Tenant>& tenants) {
  double weights = 0;
  for (const Report::Tenant& tenant : tenants) weights += tenant.sessions.empty() ? 0 : tenant.weight;
  for (Report::Tenant& tenant : tenants) {
    if (!tenant.sessions.empty()) tenant.ideal_share = tenant.weight / weights;
  }
}

}  // namespace

Report make_report(Host& host, const SessionTable& sessions, const std::string& socket,
                   std::chrono::steady_clock::time_point started) {
  Report report;
  const std::chrono::duration<double> uptime = std::chrono::steady_clock::now() - started;
  report.daemon = {::getpid(), FAIRGV_VERSION, socket, uptime.count(),
                   in_ms(host.config.devices.common.slice)};
  report.devices = device_reports(host, sessions);

  const std::vector<Tenant> tenants = host.tenants.all();
  std::vector<TenantId> ids;
  for (const Tenant& tenant : tenants) ids.push_back(tenant.id);
  const Usage usage = host.dispatch.usage(ids);
  const std::vector<double> sums = recent_sums(usage, host.devices.size());
  for (const Tenant& tenant : tenants) {
    Report::Tenant each;
    each.tenant = tenant.name;
    each.weight = tenant.weight;
    each.uid = tenant.uid;
    each.sessions = session_reports(host, sessions, tenant.id);
    const auto used = usage.find(tenant.id);
    if (used != usage.end()) fill_usage(each, used->second, sums);
    fill_memory(each, host.memory.ledger());
    if (is_worth_showing(each)) report.tenants.push_back(std::move(each));
  }
  fill_ideal_shares(report.tenants);
  return report;
}

}  // namespace fairgv::daemon
