#include "tools/fairgv/top/once.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace fairgv::tools::top {
namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json to_json(const Row& row) {
  return {{"tenant", row.tenant},
          {"weight", row.weight},
          {"share", row.share},
          {"entitled", row.entitled},
          {"min", row.promises.min},
          {"max", row.promises.max},
          {"service", row.promises.service},
          {"min_share", row.min_share},
          {"max_share", row.max_share},
          {"sessions", row.sessions},
          {"queue", row.queue},
          {"interactive", row.interactive},
          {"paused", row.paused},
          {"paused_sessions", row.paused_sessions},
          {"unsliceable", row.unsliceable},
          {"device_time_ns", row.device_time_ns},
          {"launches", row.launches},
          {"memory_used", or_null(row.memory_used)},
          {"memory_limit", or_null(row.memory_limit)},
          {"wait_p50_ns", or_null(row.wait_p50_ns)},
          {"wait_p99_ns", or_null(row.wait_p99_ns)}};
}

}  // namespace

json to_json(const View& view) {
  json devices = json::array();
  for (const DeviceView& each : view.devices) {
    json tenants = json::array();
    for (const Row& row : each.rows) tenants.push_back(to_json(row));
    const control::Report::Device& device = each.device;
    devices.push_back({{"index", device.index},
                       {"platform", device.platform},
                       {"name", device.name},
                       {"policy", device.policy},
                       {"slice_ms", device.slice_ms},
                       {"memory", device.memory},
                       {"memory_used", device.memory_used},
                       {"holder", or_null(device.holder)},
                       {"drained", device.drained},
                       {"failed", or_null(device.failed)},
                       {"tenants", std::move(tenants)}});
  }
  return {{"daemon",
           {{"pid", view.daemon.pid},
            {"version", view.daemon.version},
            {"socket", view.daemon.socket},
            {"uptime_s", view.daemon.uptime_s}}},
          {"devices", std::move(devices)}};
}

std::string nothing_found(const control::Report& report, const Filter& filter) {
  const auto is_device = [&](const auto& device) { return device.index == *filter.device; };
  if (filter.device && std::none_of(report.devices.begin(), report.devices.end(), is_device)) {
    return fmt::format("there is no device {} (there are {}): see 'fairgv ps' while a program runs",
                       *filter.device, report.devices.size());
  }
  const auto is_tenant = [&](const auto& tenant) { return tenant.tenant == filter.tenant; };
  if (!filter.tenant.empty() && std::none_of(report.tenants.begin(), report.tenants.end(), is_tenant)) {
    return fmt::format("no program of tenant '{}' runs: see 'fairgv ps'", filter.tenant);
  }
  return "";
}

}  // namespace fairgv::tools::top
