// [daemon], [metrics] and [usage].
#include <chrono>
#include <iterator>

#include "runtime/daemon/config/options/fields.hpp"
#include "runtime/daemon/config/options/sections.hpp"
#include "runtime/daemon/config/values/metrics_address.hpp"
#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {
namespace {

using Seconds = std::chrono::seconds;

constexpr double kLongestIdle = 31'536'000;  // a year, in seconds
constexpr double kShortestTimeout = 0.1;     // seconds
constexpr double kLongestTimeout = 86'400;
constexpr double kShortestFlush = 0.1;  // seconds
constexpr double kLongestFlush = 3'600;
constexpr std::int64_t kLongestRetention = 36'500;  // days

/// A group by its name, which shows it, too.
OptionAccess<Config> group_field(std::optional<gid_t> Config::*member) {
  return {[member](Config& config, const OptionValue& value) -> std::string {
            const auto& name = std::get<std::string>(value);
            config.*member = find_group(name);
            return config.*member ? "" : "there is no group '" + name + "' on this system";
          },
          [member](const Config& config) -> std::optional<OptionValue> {
            if (!(config.*member)) return std::nullopt;
            return OptionValue(group_name(*(config.*member)));
          }};
}

/// The place must be one that metrics may be told at.
std::string set_metrics_place(MetricsRule& rule, const OptionValue& value) {
  rule.listen = std::get<std::string>(value);
  const auto address = parse_metrics_address(rule.listen);
  return address ? "" : address.error().message;
}

bool is_file_name(std::string_view path) {
  return is_folder_name(path) && !path.ends_with('/');
}

}  // namespace

ConfigOptions<Config> daemon_options() {
  const std::vector<std::string> levels(std::begin(kLogLevels), std::end(kLogLevels));
  return {
      {{"socket", TextType{}, "", Applies::restart,
        "`/run/fairgv/fairgvd.sock` of root's daemon, else `$XDG_RUNTIME_DIR/fairgv/fairgvd.sock`, else "
        "`/tmp/fairgv-UID/fairgvd.sock`",
        "The path of the socket where it listens. `--socket` goes before it."},
       field(&Config::socket)},
      {{"log_level", ChoiceType{levels}, "", Applies::at_once, "",
        "What it says in its log: this and what is more urgent. `--log-level` goes before it."},
       field(&Config::log_level)},
      {{"exit_idle_s", NumberType{0, kLongestIdle}, "seconds", Applies::at_once, "",
        "End after so long without any connection; 0: never. `--exit-idle` goes before it."},
       time_field<Seconds>(&Config::exit_idle)},
      {{"session_limit", kSessions, "", Applies::new_programs, "",
        "Programs at a time, of all users together."},
       field(&Config::session_limit)},
      {{"user_session_limit", kSessions, "", Applies::new_programs, "",
        "Programs at a time of each user but root and the daemon's own."},
       field(&Config::user_session_limit)},
      {{"user_connection_limit", IntegerType{1, std::int64_t{kMostConnections}}, "", Applies::new_programs,
        "", "Connections at a time that are no programs' sessions, of each such user."},
       field(&Config::user_connection_limit)},
      {{"kept_sessions", IntegerType{0, kMostSessions}, "", Applies::new_programs,
        "a sixteenth of `session_limit`",
        "Of `session_limit`, places that only root, the daemon's own user and `admin_group` can take."},
       field(&Config::kept_sessions)},
      {{"hello_timeout_s", NumberType{kShortestTimeout, kLongestTimeout}, "seconds", Applies::at_once, "",
        "Hang up on a connection that does not say within this time what it is for."},
       time_field<Seconds>(&Config::hello_timeout)},
      {{"idle_timeout_s", NumberType{0, kLongestTimeout}, "seconds", Applies::at_once, "",
        "Hang up on a user's connection of `fairgv` that has asked for nothing for so long; 0: never (see "
        "Limits)."},
       time_field<Seconds>(&Config::idle_timeout)},
      {{"group", TextType{}, "", Applies::at_once, "root's daemon serves everybody, another its own user",
        "The group whose members may connect, and nobody else but root."},
       group_field(&Config::group)},
      {{"admin_group", TextType{}, "", Applies::at_once, "root and the daemon's own user only",
        "The group whose members may do by `fairgv` what root may. They must be able to connect, too."},
       group_field(&Config::admin_group)},
  };
}

ConfigOptions<Config> metrics_options() {
  const auto listen = field(&MetricsRule::listen);
  return {
      {{"listen", TextType{}, "", Applies::at_once, "nowhere",
        "Where metrics are told: `127.0.0.1:9477`, `[::1]:9477` or `unix:/path`. The loopback only."},
       within(&Config::metrics, {set_metrics_place, listen.get})},
  };
}

ConfigOptions<Config> usage_options() {
  const auto in = [](auto access) { return within(&Config::usage, access); };
  return {
      {{"store", TextType{"the absolute path of a file", is_file_name}, "", Applies::at_once,
        "nothing is kept", "The file in which it is kept."},
       in(field(&UsageRule::store))},
      {{"flush_s", NumberType{kShortestFlush, kLongestFlush}, "seconds", Applies::at_once, "",
        "How often it is written: a crash loses no more."},
       in(time_field<Seconds>(&UsageRule::flush))},
      {{"retention_days", IntegerType{1, kLongestRetention}, "days", Applies::at_once, "",
        "How long it is kept."},
       in(field(&UsageRule::retention_days))},
  };
}

}  // namespace fairgv::daemon
