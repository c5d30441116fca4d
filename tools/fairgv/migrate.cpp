// fairgv migrate: moves a session, or all sessions of a tenant, to another worker and perhaps another device.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/base/memory_size.hpp"
#include "runtime/control/moves.hpp"
#include "runtime/session/identity.hpp"
#include "runtime/session/turn.hpp"
#include "tools/fairgv/changes.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

struct MigrateOptions {
  std::string target;
  std::string tenant;
  std::optional<std::uint32_t> device;
  bool json = false;
  std::string socket;
};

Result<control::ControlRequest> migrate_request(const MigrateOptions& options) {
  if (options.target.empty() == options.tenant.empty())
    return Error{"name a session or a tenant: fairgv migrate SESSION|TENANT [--device N]"};
  control::ControlRequest request;
  if (options.tenant.empty()) {
    FAIRGV_TRY(named, named_target(options.target));
    request = std::move(named).value();
  } else if (session::is_tenant_name(options.tenant)) {
    request.tenant = options.tenant;
  } else {
    return session::tenant_name_error(options.tenant, "--tenant");
  }
  request.command = control::ControlRequest::Command::migrate;
  request.device = options.device;
  return request;
}

std::string move_line(const control::MovedSession& move) {
  const std::string from = fmt::format("{}", fmt::join(move.from, ","));
  const std::string to = fmt::format("{}", fmt::join(move.to, ","));
  return fmt::format("session {}: {}, image {}, held for {:.1f} ms", move.session,
                     from == to ? fmt::format("a new worker on device {}", to)
                                : fmt::format("moved from device {} to {}", from, to),
                     readable_bytes(move.bytes), move.held_ms);
}

int migrate(const MigrateOptions& options) {
  const auto request = migrate_request(options);
  if (!request) return fail("migrate", request.error().message, kMisused);
  auto control = Control::connect(options.socket);
  if (!control) return fail("migrate", control.error().message);
  const auto answer = control->ask(request.value());
  if (!answer) return fail("migrate", answer.error().message);
  const auto report = control::parse_move_report(answer.value());
  if (!report) return fail("migrate", report.error().message);
  if (options.json) fmt::print("{}\n", nlohmann::json::parse(answer.value()).dump(2));
  int status = 0;
  for (const control::MovedSession& move : report->moves) {
    if (!move.error.empty()) {
      status = fail("migrate", move.error);
    } else if (!options.json) {
      fmt::print("{}\n", move_line(move));
    }
  }
  return status;
}

}  // namespace

void add_migrate(CLI::App& app, Action& action) {
  static MigrateOptions options;
  CLI::App* const added = app.add_subcommand(
      "migrate",
      "Move a running session, or all of a tenant, to another device: fairgv migrate SESSION|TENANT");
  added->add_option("target", options.target, "Number of the session, as by fairgv ps, or name of the tenant")
      ->type_name("SESSION|TENANT");
  added->add_option("--tenant", options.tenant, "Name of the tenant, also of one that looks like a number")
      ->type_name("TENANT");
  added
      ->add_option("--device", options.device,
                   "Number of the device, as by fairgv ps (default: a new worker on the same devices)")
      ->check(CLI::Range(0U, session::kMaxDevices - 1));
  added->add_flag("--json", options.json, "As JSON, for programs");
  add_socket_option(*added, options.socket);
  added->callback([&action] { action = [] { return migrate(options); }; });
}

}  // namespace fairgv::tools
