// fairgv set: changes a tenant's weight or memory, or how devices are shared, while programs run.
#include <fmt/core.h>

#include <optional>

#include "runtime/session/identity.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"
#include "sched/policies/registry.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

using session::ControlRequest;

struct SetOptions {
  std::string tenant;
  std::string setting;
  std::string memory;
  std::string policy;
  std::optional<std::uint32_t> device;
  std::string socket;
};

/// `done` is printed when the daemon has agreed.
int ask(const SetOptions& options, const ControlRequest& request, const std::string& done) {
  auto control = Control::connect(options.socket);
  if (!control) return fail("set", control.error().message);
  const auto answer = control->ask(request);
  if (!answer) return fail("set", answer.error().message);
  if (const auto outcome = session::parse_outcome(answer.value()); !outcome)
    return fail("set", outcome.error().message);
  fmt::print("{}\n", done);
  return 0;
}

int set_weight(const SetOptions& options) {
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
  ControlRequest request;
  request.command = ControlRequest::Command::set;
  request.tenant = options.tenant;
  request.weight = weight.value();
  return ask(options, request, fmt::format("{}: weight {}", options.tenant, weight.value()));
}

int set_memory(const SetOptions& options) {
  if (!session::is_tenant_name(options.tenant)) {
    return fail("set", session::tenant_name_error(options.tenant, "the tenant").message, kMisused);
  }
  const auto memory = session::parse_memory_size(options.memory, "--mem");
  if (!memory) return fail("set", memory.error().message, kMisused);
  ControlRequest request;
  request.command = ControlRequest::Command::set;
  request.tenant = options.tenant;
  request.memory = memory.value();
  return ask(options, request, fmt::format("{}: memory {}", options.tenant, to_text(memory.value())));
}

int set_policy(const SetOptions& options) {
  ControlRequest request;
  request.command = ControlRequest::Command::set_policy;
  request.policy = options.policy;
  request.device = options.device;
  const std::string where = options.device ? fmt::format("device {}", *options.device) : "all devices";
  return ask(options, request, fmt::format("{}: policy {}", where, options.policy));
}

int set(const SetOptions& options) {
  if (!options.memory.empty()) {
    if (options.policy.empty() && options.setting.empty()) return set_memory(options);
    return fail("set", "set one thing at a time: weight=W, --mem or --policy", kMisused);
  }
  if (options.policy.empty()) return set_weight(options);
  if (options.tenant.empty()) return set_policy(options);
  return fail("set", "set either a tenant's weight or a policy: a policy is a device's", kMisused);
}

}  // namespace

void add_set(CLI::App& app, Action& action) {
  static SetOptions options;
  CLI::App* command = app.add_subcommand("set",
                                         "Change what holds while programs run: fairgv set TENANT weight=W, "
                                         "fairgv set TENANT --mem SIZE, or fairgv "
                                         "set --policy NAME");
  command->add_option("tenant", options.tenant, "Name of the tenant")->type_name("TENANT");
  command->add_option("setting", options.setting, "weight=W, with W from 1 to 10000")->type_name("SETTING");
  command
      ->add_option("--mem", options.memory,
                   "The most device memory that the tenant may hold: 512MiB, 25%; who holds more keeps it")
      ->type_name("SIZE");
  std::vector<std::string> policies;
  for (const sched::PolicyInfo& info : sched::all_policies()) policies.emplace_back(info.name);
  auto* const policy = command->add_option("--policy", options.policy, "How devices are shared")
                           ->check(CLI::IsMember(policies));
  command->add_option("--device", options.device, "Only for this device, numbered as by fairgv ps")
      ->check(CLI::Range(0U, session::kMaxDevices - 1))
      ->needs(policy);
  add_socket_option(*command, options.socket);
  command->callback([&action] { action = [] { return set(options); }; });
}

}  // namespace fairgv::tools
