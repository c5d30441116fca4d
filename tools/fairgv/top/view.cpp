#include "tools/fairgv/top/view.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fairgv::tools::top {
namespace {

using control::Report;

constexpr std::array<std::pair<SortKey, const char*>, static_cast<std::size_t>(kLastSortKey) + 1> kSortKeys{{
    {SortKey::share, "share"},
    {SortKey::tenant, "tenant"},
    {SortKey::weight, "weight"},
    {SortKey::entitled, "entitled"},
    {SortKey::sessions, "sessions"},
    {SortKey::queue, "queue"},
    {SortKey::memory, "memory"},
    {SortKey::wait, "wait"},
    {SortKey::time, "time"},
    {SortKey::launches, "launches"},
}};

/// An older daemon's list may be shorter, and is empty where it does not know.
template <class T>
std::optional<T> at(const std::vector<T>& list, std::size_t index) {
  if (index >= list.size()) return std::nullopt;
  return list[index];
}

/// From an older daemon, which keeps no books of waits and queues.
void fill_from_sessions(Row& row, const Report::Tenant& tenant, std::uint32_t device) {
  for (const Report::Session& session : tenant.sessions) {
    // A session whose state is "held" has the turn because it is alone, and nothing to do.
    if (session.state == "wanting" || session.state == "busy") ++row.queue;
    row.interactive = row.interactive || session.interactive;
  }
  row.share = at(tenant.share, device).value_or(0);
  row.device_time_ns = at(tenant.device_time_ns, device).value_or(0);
  row.launches = tenant.launches;
  row.memory_used = at(tenant.memory_used, device);
  row.memory_limit = at(tenant.memory_limit, device);
}

void fill_from_books(Row& row, const Report::Use& use) {
  row.queue = use.queue;
  row.interactive = use.interactive > 0;
  row.share = use.share;
  row.device_time_ns = use.device_time_ns;
  row.launches = use.launches;
  row.memory_used = use.memory_used;
  row.memory_limit = use.memory_limit;
  if (use.waits == 0) return;  // nothing was waited for yet
  row.wait_p50_ns = use.wait_p50_ns;
  row.wait_p99_ns = use.wait_p99_ns;
}

Row row_of(const Report::Tenant& tenant, std::uint32_t device) {
  Row row;
  row.tenant = tenant.tenant;
  row.weight = tenant.weight;
  row.entitled = tenant.due(device);
  row.promises = {tenant.min, tenant.max, tenant.service};
  row.min_share = tenant.min_share;
  row.max_share = tenant.max_share;
  row.sessions = tenant.sessions.size();
  row.paused = tenant.paused.has_value();
  for (const Report::Session& session : tenant.sessions) {
    if (tenant.paused || session.paused) ++row.paused_sessions;
    for (const session::LongCommand& command : session.long_commands) {
      if (command.device == device) ++row.unsliceable;
    }
  }
  if (device < tenant.use.size()) {
    fill_from_books(row, tenant.use[device]);
  } else {
    fill_from_sessions(row, tenant, device);
  }
  return row;
}

/// Greatest first.
double sort_value(const Row& row, SortKey key) {
  switch (key) {
    case SortKey::tenant:
      break;
    case SortKey::share:
      return row.share;
    case SortKey::weight:
      return row.weight;
    case SortKey::entitled:
      return row.entitled;
    case SortKey::sessions:
      return static_cast<double>(row.sessions);
    case SortKey::queue:
      return static_cast<double>(row.queue);
    case SortKey::memory:
      return static_cast<double>(row.memory_used.value_or(0));
    case SortKey::wait:
      return static_cast<double>(row.wait_p99_ns.value_or(0));
    case SortKey::time:
      return static_cast<double>(row.device_time_ns);
    case SortKey::launches:
      return static_cast<double>(row.launches);
  }
  return 0;
}

/// Where the values are the same the names decide, so that rows do not change places for nothing.
void sort_rows(std::vector<Row>& rows, const Order& order) {
  std::sort(rows.begin(), rows.end(), [&](const Row& left, const Row& right) {
    const double first = sort_value(order.reversed ? right : left, order.key);
    const double second = sort_value(order.reversed ? left : right, order.key);
    if (first != second) return first > second;
    if (order.key == SortKey::tenant && order.reversed) return left.tenant > right.tenant;
    return left.tenant < right.tenant;
  });
}

}  // namespace

const char* name_of(SortKey key) {
  return kSortKeys.at(static_cast<std::size_t>(key)).second;
}

std::optional<SortKey> sort_key(const std::string& name) {
  for (const auto& [key, its_name] : kSortKeys) {
    if (name == its_name) return key;
  }
  return std::nullopt;
}

std::string sort_key_names() {
  std::string names;
  for (const auto& [key, name] : kSortKeys) names += std::string(names.empty() ? "" : ", ") + name;
  return names;
}

View make_view(const Report& report, const Filter& filter, const Order& order) {
  View view;
  view.daemon = report.daemon;
  for (const Report::Device& device : report.devices) {
    if (device.same_as) continue;  // everything of it is that device's
    if (filter.device && device.index != *filter.device) continue;
    DeviceView each{device, {}};
    for (const Report::Tenant& tenant : report.tenants) {
      if (!filter.tenant.empty() && tenant.tenant != filter.tenant) continue;
      const Row& row = each.rows.emplace_back(row_of(tenant, device.index));
      view.has_min = view.has_min || row.promises.has_min();
      view.has_max = view.has_max || row.promises.has_max();
      view.has_service = view.has_service || row.promises.has_service();
    }
    sort_rows(each.rows, order);
    view.devices.push_back(std::move(each));
  }
  for (const Report::Tenant& tenant : report.tenants) {
    if (!filter.tenant.empty() && tenant.tenant != filter.tenant) continue;
    ++view.tenants;
    view.sessions += tenant.sessions.size();
  }
  return view;
}

}  // namespace fairgv::tools::top
