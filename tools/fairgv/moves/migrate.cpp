// fairgv migrate and park: a session, or all sessions of a tenant, gets another worker, perhaps on another
// device, or none until it is resumed.
#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/session/identity.hpp"
#include "runtime/session/turn.hpp"
#include "tools/fairgv/changes.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/moves/moved_sessions.hpp"

namespace fairgv::tools {
namespace {

using Command = control::ControlRequest::Command;

struct MigrateOptions {
  std::string target;
  std::string tenant;
  std::optional<std::uint32_t> device;
  bool force = false;
  bool to_file = false;
  bool wake = false;
  bool json = false;
  std::string socket;
};

Result<control::ControlRequest> request_for(const char* name, const MigrateOptions& options) {
  if (options.target.empty() == options.tenant.empty())
    return Error{fmt::format("name a session or a tenant: fairgv {} SESSION|TENANT", name)};
  control::ControlRequest request;
  if (options.tenant.empty()) {
    FAIRGV_TRY(named, named_target(options.target));
    request = std::move(named).value();
  } else if (session::is_tenant_name(options.tenant)) {
    request.tenant = options.tenant;
  } else {
    return session::tenant_name_error(options.tenant, "--tenant");
  }
  request.device = options.device;
  request.force = options.force;
  request.to_file = options.to_file;
  request.wake = options.wake;
  return request;
}

int carry_out(const char* name, Command command, const MigrateOptions& options) {
  auto request = request_for(name, options);
  if (!request) return fail(name, request.error().message, kMisused);
  request->command = command;
  return ask_and_print_moves(name, request.value(), options.socket, options.json);
}

CLI::App* add_command(CLI::App& app, const char* name, const char* help, MigrateOptions& options) {
  CLI::App* const added = app.add_subcommand(name, help);
  added->add_option("target", options.target, "Number of the session, as by fairgv ps, or name of the tenant")
      ->type_name("SESSION|TENANT");
  added->add_option("--tenant", options.tenant, "Name of the tenant, also of one that looks like a number")
      ->type_name("TENANT");
  added->add_flag("--json", options.json, "As JSON, for programs");
  add_socket_option(*added, options.socket);
  return added;
}

}  // namespace

void add_migrate(CLI::App& app, Action& action) {
  static MigrateOptions options;
  CLI::App* const added = add_command(
      app, "migrate",
      "Move a running session, or all of a tenant, to another device: fairgv migrate SESSION|TENANT",
      options);
  added
      ->add_option("--device", options.device,
                   "Number of the device, as by fairgv ps (default: a new worker on the same devices)")
      ->check(CLI::Range(0U, session::kMaxDevices - 1));
  added->add_flag("--force", options.force, "Also to a device that the program could tell from its own");
  added->callback([&action] { action = [] { return carry_out("migrate", Command::migrate, options); }; });
}

void add_park(CLI::App& app, Action& action) {
  static MigrateOptions options;
  CLI::App* const added =
      add_command(app, "park",
                  "Take a session, or all of a tenant, off its devices until fairgv resume: fairgv park "
                  "SESSION|TENANT",
                  options);
  added->add_flag("--to-file", options.to_file, "Keep what the session holds in a file, not in memory");
  added->add_flag("--wake", options.wake, "Let it go on by itself as soon as its program needs its device");
  added->callback([&action] { action = [] { return carry_out("park", Command::park, options); }; });
}

}  // namespace fairgv::tools
