// Requests and answers about the past: how much of each device was used, and by whom (fairgv usage).
//
//   {"command":"usage","since_ms":N,"until_ms":N,"by":"tenant"}
//   {"ok":true,"by":"tenant","since_ms":N,"until_ms":N,"rows":[{"key":"alice","device_ns":...},...]}
//
// Times are milliseconds since 1970 (UTC).
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv {

class JsonFields;

}  // namespace fairgv

namespace fairgv::control {

/// The amounts that are added up.
struct UsageAmounts {
  std::uint64_t device_ns = 0;    // device time that was charged
  std::uint64_t entitled_ns = 0;  // device time that was due to it while there were sessions
  double memory_byte_s = 0;       // bytes held, over time
  std::uint64_t commands = 0;
  std::uint64_t launches = 0;
  std::uint64_t slices = 0;
  std::uint64_t bytes = 0;  // moved by commands

  UsageAmounts& operator+=(const UsageAmounts& other);
  friend bool operator==(const UsageAmounts&, const UsageAmounts&) = default;
};

enum class UsageBy { tenant, user, device, day };
inline constexpr std::array<const char*, 4> kUsageByNames{"tenant", "user", "device", "day"};

struct UsageQuery {
  std::int64_t since_ms = 0;
  std::int64_t until_ms = 0;  // not included
  UsageBy by = UsageBy::tenant;
};

/// One line of the answer. `key`: the tenant's name, the user's number, the device's index and name, or the
/// day (of the daemon's time zone) as 2026-12-31.
struct UsageSum {
  std::string key;
  UsageAmounts amounts;
};

nlohmann::json to_json(const UsageAmounts& amounts);
UsageAmounts usage_amounts_from(JsonFields& fields);

/// An Error names what is known.
Result<UsageBy> parse_usage_by(std::string_view name);

std::string to_text(const UsageQuery& query, const std::vector<UsageSum>& sums);
Result<std::vector<UsageSum>> parse_usage(std::string_view answer);

}  // namespace fairgv::control
