// fairgv set: changes a tenant while it runs.
#include <fmt/core.h>

#include "runtime/session/identity.hpp"
#include "runtime/session/protocol.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

struct SetOptions {
  std::string tenant;
  std::string setting;
  std::string socket;
};

int set(const SetOptions& options) {
  const auto equals = options.setting.find('=');
  const std::string key = options.setting.substr(0, equals);
  if (equals == std::string::npos || key != "weight") {
    return fail("set", "'" + options.setting + "' is no setting: fairgv set TENANT weight=W", kMisused);
  }
  if (!session::is_tenant_name(options.tenant)) {
    return fail("set", session::tenant_name_error(options.tenant, "the tenant").message, kMisused);
  }
  const auto weight = session::parse_weight(options.setting.substr(equals + 1), "weight");
  if (!weight) return fail("set", weight.error().message, kMisused);

  auto control = Control::connect(options.socket);
  if (!control) return fail("set", control.error().message);
  const auto answer = control->ask({session::ControlRequest::Command::set, options.tenant, weight.value()});
  if (!answer) return fail("set", answer.error().message);
  if (const auto outcome = session::parse_outcome(answer.value()); !outcome)
    return fail("set", outcome.error().message);
  fmt::print("{}: weight {}\n", options.tenant, weight.value());
  return 0;
}

}  // namespace

void add_set(CLI::App& app, Action& action) {
  static SetOptions options;
  CLI::App* command = app.add_subcommand("set", "Change a tenant while it runs: fairgv set TENANT weight=W");
  command->add_option("tenant", options.tenant, "Name of the tenant")->required();
  command->add_option("setting", options.setting, "weight=W, with W from 1 to 10000")->required();
  add_socket_option(*command, options.socket);
  command->callback([&action] { action = [] { return set(options); }; });
}

}  // namespace fairgv::tools
