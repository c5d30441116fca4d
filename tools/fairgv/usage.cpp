// fairgv usage: the tenants' use in the past, for people, scripts and bills.
#include <fmt/core.h>
#include <pwd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/usage/store.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"
#include "tools/fairgv/usage_time.hpp"

namespace fairgv::tools {
namespace {

using control::UsageAmounts;
using control::UsageBy;
using control::UsageQuery;
using control::UsageSum;

struct UsageOptions {
  std::string since = "today";
  std::string until = "now";
  std::string by = "tenant";
  std::string store;
  std::string socket;
  bool json = false;
  bool csv = false;
};

std::int64_t wall_clock_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

double in_seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

/// A user's number with the name, if there is one.
std::string named(const UsageSum& sum, UsageBy by) {
  if (by != UsageBy::user) return sum.key;
  const passwd* const user = ::getpwuid(static_cast<uid_t>(std::strtoul(sum.key.c_str(), nullptr, 10)));
  return user == nullptr ? sum.key : sum.key + " " + user->pw_name;
}

/// By RFC 4180, if it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

void print_csv(const UsageOptions& options, UsageBy by, const std::vector<UsageSum>& sums) {
  fmt::print("{},device_seconds,entitled_seconds,memory_byte_seconds,commands,launches,slices,moved_bytes\n",
             options.by);
  for (const UsageSum& sum : sums) {
    const UsageAmounts& used = sum.amounts;
    fmt::print("{},{:.9f},{:.9f},{:.0f},{},{},{},{}\n", csv_field(named(sum, by)), in_seconds(used.device_ns),
               in_seconds(used.entitled_ns), used.memory_byte_s, used.commands, used.launches, used.slices,
               used.bytes);
  }
}

void print_json(const UsageQuery& query, UsageBy by, const std::vector<UsageSum>& sums) {
  nlohmann::json rows = nlohmann::json::array();
  for (const UsageSum& sum : sums) {
    const UsageAmounts& used = sum.amounts;
    rows.push_back({{"key", named(sum, by)},
                    {"device_seconds", in_seconds(used.device_ns)},
                    {"entitled_seconds", in_seconds(used.entitled_ns)},
                    {"memory_byte_seconds", used.memory_byte_s},
                    {"commands", used.commands},
                    {"launches", used.launches},
                    {"slices", used.slices},
                    {"moved_bytes", used.bytes}});
  }
  const nlohmann::json whole{{"by", control::kUsageByNames.at(static_cast<std::size_t>(by))},
                             {"since_ms", query.since_ms},
                             {"until_ms", query.until_ms},
                             {"rows", std::move(rows)}};
  fmt::print("{}\n", whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_row(const std::string& key, const UsageAmounts& used) {
  constexpr double kGiBHour = 3'600.0 * (1U << 30);
  fmt::print("{:<32} {:>12.2f} {:>12.2f} {:>12.3f} {:>12} {:>10} {:>10}\n", key, in_seconds(used.device_ns),
             in_seconds(used.entitled_ns), used.memory_byte_s / kGiBHour, used.launches, used.slices,
             readable_bytes(used.bytes));
}

void print_table(const UsageOptions& options, UsageBy by, const std::vector<UsageSum>& sums) {
  if (sums.empty()) {
    fmt::print("nothing was used\n");
    return;
  }
  fmt::print("{:<32} {:>12} {:>12} {:>12} {:>12} {:>10} {:>10}\n", options.by, "device s", "entitled s",
             "memory GiBh", "launches", "slices", "moved");
  UsageAmounts all;
  for (const UsageSum& sum : sums) {
    print_row(named(sum, by), sum.amounts);
    all += sum.amounts;
  }
  if (sums.size() > 1) print_row("all", all);
}

Result<std::vector<UsageSum>> ask_daemon(const std::string& socket, const UsageQuery& query) {
  FAIRGV_TRY(control, Control::connect(socket));
  control::ControlRequest request;
  request.command = control::ControlRequest::Command::usage;
  request.usage = query;
  FAIRGV_TRY(answer, control->ask(request));
  return control::parse_usage(answer.value());
}

Result<std::vector<UsageSum>> read_file(const std::string& path, const UsageQuery& query) {
  FAIRGV_TRY(store, usage::Store::open_to_read(path));
  return store->sum(query);
}

int usage(const UsageOptions& options) {
  const std::int64_t now = wall_clock_ms();
  const auto by = control::parse_usage_by(options.by);
  if (!by) return fail("usage", by.error().message, kMisused);
  const auto since = parse_time(options.since, "--since", now);
  if (!since) return fail("usage", since.error().message, kMisused);
  const auto until = parse_time(options.until, "--until", now);
  if (!until) return fail("usage", until.error().message, kMisused);
  if (since.value() < 0 || until.value() < since.value()) {
    return fail("usage", "--until '" + options.until + "' is before --since '" + options.since + "'",
                kMisused);
  }
  const UsageQuery query{since.value(), until.value() + (options.until == "now" ? 1 : 0), by.value()};
  const auto sums =
      options.store.empty() ? ask_daemon(options.socket, query) : read_file(options.store, query);
  if (!sums) return fail("usage", sums.error().message);
  if (options.json) {
    print_json(query, by.value(), sums.value());
  } else if (options.csv) {
    print_csv(options, by.value(), sums.value());
  } else {
    print_table(options, by.value(), sums.value());
  }
  return 0;
}

}  // namespace

void add_usage(CLI::App& app, Action& action) {
  static UsageOptions options;
  CLI::App* command =
      app.add_subcommand("usage", "What tenants have used: device time, entitlement, memory, launches");
  command->add_option("--since", options.since,
                      "From when on: a day, a time, 2h, 7d, today, yesterday (default: today)");
  command->add_option("--until", options.until, "Until when; the same forms (default: now)");
  command->add_option("--by", options.by, "One line per tenant, user, device or day (default: tenant)");
  auto* const json = command->add_flag("--json", options.json, "For scripts");
  command->add_flag("--csv", options.csv, "For spreadsheets")->excludes(json);
  command->add_option("--store", options.store,
                      "Read this file instead of asking the daemon (of [usage] in its configuration)");
  add_socket_option(*command, options.socket);
  command->callback([&action] { action = [] { return usage(options); }; });
}

}  // namespace fairgv::tools
