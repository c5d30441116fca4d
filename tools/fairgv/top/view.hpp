// The contents of `fairgv top`, made from the daemon's report: devices, and the tenants of each in an order.
//
// Pure logic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/control/protocol.hpp"
#include "tools/fairgv/promises.hpp"

namespace fairgv::tools::top {

/// One tenant on one device. Shares are 0 to 1, times nanoseconds, memory bytes.
struct Row {
  std::string tenant;
  std::uint32_t weight = 0;
  double share = 0;     // of the device time that everybody used lately
  double entitled = 0;  // its guarantee, and its part by weight of what is not guaranteed
  Promises promises{};
  double min_share = 0;
  double max_share = 1;
  std::uint64_t sessions = 0;
  std::uint64_t queue = 0;  // sessions that wait for a turn or have work on one
  bool interactive = false;
  bool paused = false;                // with all its sessions
  std::uint64_t paused_sessions = 0;  // that get no turn
  std::uint64_t unsliceable = 0;      // kernels that held this device beyond their slice and cannot be cut
  std::uint64_t device_time_ns = 0;
  std::uint64_t launches = 0;
  // None: the daemon does not say, or nothing was waited for yet.
  std::optional<std::uint64_t> memory_used;
  std::optional<std::uint64_t> memory_limit;
  std::optional<std::uint64_t> wait_p50_ns;
  std::optional<std::uint64_t> wait_p99_ns;
};

struct DeviceView {
  control::Report::Device device;
  std::vector<Row> rows;
};

struct View {
  control::Report::Daemon daemon;
  std::vector<DeviceView> devices;
  std::uint64_t tenants = 0;
  std::uint64_t sessions = 0;
  // Whether a tenant's promise differs from the default.
  bool has_min = false;
  bool has_max = false;
  bool has_service = false;
};

enum class SortKey { share, tenant, weight, entitled, sessions, queue, memory, wait, time, launches };
inline constexpr SortKey kLastSortKey = SortKey::launches;

const char* name_of(SortKey key);
std::optional<SortKey> sort_key(const std::string& name);
/// "share, tenant, ...": for messages.
std::string sort_key_names();

struct Order {
  SortKey key = SortKey::share;
  bool reversed = false;  // the smallest first; of names, the last
};

/// Empty: everything.
struct Filter {
  std::optional<std::uint32_t> device;
  std::string tenant;
};

View make_view(const control::Report& report, const Filter& filter, const Order& order);

}  // namespace fairgv::tools::top
