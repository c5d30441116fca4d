// The longer answers on a control connection (control/protocol.hpp): what a reload has changed, and which
// tenant the asking process would be, and who is in front.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/session/direct/direct_mode.hpp"

namespace fairgv::control {

/// The answer to `reload`: the options that changed, as people name them ("[device] slice_ms"), by when that
/// holds.
struct ReloadReport {
  std::string file;
  std::vector<std::string> at_once;       // for running programs, too
  std::vector<std::string> new_programs;  // for those that start from now on
  std::vector<std::string> restart;       // not before the daemon is stopped and started
  std::vector<std::string> warnings;      // failures, a line each
};

std::string to_text(const ReloadReport& report);
/// Why the configuration stays as it was: a line each.
std::string refusal_text(const std::vector<std::string>& lines);
/// An Error's message may have several lines.
Result<ReloadReport> parse_reload_report(std::string_view text);

/// The answer to `whoami`.
struct WhoAmI {
  std::uint32_t uid = 0;
  std::string user;
  std::optional<std::string> counts_for;  // the user whose subordinate id it is; none: it is none
  std::vector<std::uint64_t> groups;      // ids
  std::optional<std::string> cgroup;      // path; none: unknown
  std::optional<std::string> container;   // label; none: in no container that is known
  std::optional<std::string> rule;        // that fits: "[[match]] 2 (/etc/fairgv/fairgvd.toml:40)"
  std::string tenant;                     // empty: refused
  std::optional<std::string> class_name;  // of the tenant
  // The tenant's attributes with this program; where that is refused, those without it.
  std::uint32_t weight = 0;
  std::string min{};  // as people write them (session/wish/tenant_wish.hpp); empty: an older daemon
  std::string max{};
  std::string service{};
  std::vector<std::uint64_t> memory_limits;  // bytes by device; empty: no device is known yet
  std::string devices{};                     // that it may use: "all", "best", "0,2"; empty: an older daemon
  /// Where the daemon chooses: what it would choose now and why nothing else, a line each.
  std::vector<std::string> device_choice{};
  std::optional<std::string> refusal;  // why a program would not be served
  bool administrator = false;
  /// Whether its CUDA programs may keep the driver in their own process; none: an older daemon.
  std::optional<session::DirectMode> direct{};
  std::string cuda_library{};  // the driver that these must load; empty: any
};

std::string to_text(const WhoAmI& who);
Result<WhoAmI> parse_whoami(std::string_view text);

/// The answer to `focus`.
struct FrontAnswer {
  std::vector<std::string> front;    // the tenants that are in front now: those that run and are the asker's
  std::vector<std::string> refused;  // why others are not, a line each
};

std::string to_text(const FrontAnswer& answer);
Result<FrontAnswer> parse_front_answer(std::string_view text);

/// The answer to `config`: the configuration that holds, as TOML.
std::string config_text(const std::string& toml);
Result<std::string> parse_config_answer(std::string_view text);

}  // namespace fairgv::control
