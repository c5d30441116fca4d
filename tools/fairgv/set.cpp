// fairgv set: changes a tenant's weight or memory, or how devices are shared, while programs run.
#include <fmt/core.h>

#include <optional>

#include "runtime/session/turn.hpp"
#include "sched/policies/registry.hpp"
#include "tools/fairgv/changes.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

struct SetOptions {
  std::string tenant;
  std::string setting;
  std::string memory;
  std::string policy;
  std::optional<std::uint32_t> device;
  std::string socket;
};

int ask(const SetOptions& options, const Result<Change>& change) {
  if (!change) return fail("set", change.error().message, kMisused);
  auto control = Control::connect(options.socket);
  if (!control) return fail("set", control.error().message);
  const auto answer = control->ask(change.value().request);
  if (!answer) return fail("set", answer.error().message);
  if (const auto outcome = session::parse_outcome(answer.value()); !outcome)
    return fail("set", outcome.error().message);
  fmt::print("{}\n", change.value().done);
  return 0;
}

int set_weight(const SetOptions& options) {
  const auto equals = options.setting.find('=');
  const std::string key = options.setting.substr(0, equals);
  if (equals == std::string::npos || key != "weight") {
    return fail("set", "'" + options.setting + "' is no setting: fairgv set TENANT weight=W", kMisused);
  }
  return ask(options, weight_change(options.tenant, options.setting.substr(equals + 1), "weight"));
}

int set(const SetOptions& options) {
  if (!options.memory.empty()) {
    if (options.policy.empty() && options.setting.empty()) {
      return ask(options, memory_change(options.tenant, options.memory, "--mem"));
    }
    return fail("set", "set one thing at a time: weight=W, --mem or --policy", kMisused);
  }
  if (options.policy.empty()) return set_weight(options);
  if (options.tenant.empty()) return ask(options, policy_change(options.policy, options.device));
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
