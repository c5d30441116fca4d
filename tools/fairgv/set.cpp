// fairgv set: changes a tenant's weight or memory, or how devices are shared, while programs run.
#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/near_word.hpp"
#include "runtime/session/turn.hpp"
#include "sched/policies/registry.hpp"
#include "tools/fairgv/changes.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

struct SetOptions {
  std::string tenant;
  std::vector<std::string> settings;  // NAME=VALUE, another way to write --NAME VALUE
  std::string weight;
  std::string memory;
  std::string policy;
  std::optional<std::uint32_t> device;
  std::string socket;
};

/// Puts "weight=4" where --weight 4 is; an Error if it is no setting, or is there twice.
Result<void> take_setting(SetOptions& options, const std::string& setting) {
  const auto equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  std::string* const value = name == "weight"                    ? &options.weight
                             : name == "mem" || name == "memory" ? &options.memory
                                                                 : nullptr;
  if (equals == std::string::npos || value == nullptr) {
    return Error{"'" + setting + "' is no setting: " + did_you_mean(name, {"weight", "mem"}) +
                 "a tenant has --weight W and --mem SIZE"};
  }
  if (!value->empty()) return Error{name + " is there twice"};
  *value = setting.substr(equals + 1);
  if (value->empty()) return Error{name + " needs a value: fairgv set TENANT --" + name + " ..."};
  return {};
}

/// All changes are right before the first is asked for.
Result<std::vector<Change>> changes_of(const SetOptions& options) {
  std::vector<Result<Change>> wanted;
  if (!options.weight.empty()) wanted.push_back(weight_change(options.tenant, options.weight, "--weight"));
  if (!options.memory.empty()) wanted.push_back(memory_change(options.tenant, options.memory, "--mem"));
  if (!options.policy.empty()) wanted.push_back(policy_change(options.policy, options.device));
  std::vector<Change> changes;
  for (Result<Change>& each : wanted) {
    if (!each) return each.error();
    changes.push_back(std::move(each).value());
  }
  return changes;
}

int apply_all(const SetOptions& options, const std::vector<Change>& changes) {
  auto control = Control::connect(options.socket);
  if (!control) return fail("set", control.error().message);
  for (const Change& change : changes) {
    const auto answer = control->ask(change.request);
    if (!answer) return fail("set", answer.error().message);
    if (const auto outcome = control::parse_outcome(answer.value()); !outcome)
      return fail("set", outcome.error().message);
    fmt::print("{}\n", change.done);
  }
  return 0;
}

int set(SetOptions& options) {
  if (options.tenant.find('=') != std::string::npos) {
    return fail("set", "'" + options.tenant + "' is no tenant: fairgv set TENANT --weight W", kMisused);
  }
  for (const std::string& setting : options.settings) {
    if (auto taken = take_setting(options, setting); !taken)
      return fail("set", taken.error().message, kMisused);
  }
  const bool of_tenant = !options.weight.empty() || !options.memory.empty();
  if (!options.policy.empty() && (of_tenant || !options.tenant.empty())) {
    return fail("set", "a policy is a device's, not a tenant's: fairgv set --policy NAME [--device N]",
                kMisused);
  }
  if (of_tenant && options.tenant.empty())
    return fail("set", "whose? fairgv set TENANT --weight W, or --mem SIZE", kMisused);
  if (!of_tenant && options.policy.empty()) {
    return fail("set", "say what to change: fairgv set TENANT --weight W, or --mem SIZE, or --policy NAME",
                kMisused);
  }
  const auto changes = changes_of(options);
  if (!changes) return fail("set", changes.error().message, kMisused);
  return apply_all(options, changes.value());
}

}  // namespace

void add_set(CLI::App& app, Action& action) {
  static SetOptions options;
  CLI::App* command =
      app.add_subcommand("set",
                         "Change what holds while programs run: fairgv set TENANT --weight W --mem SIZE, or "
                         "fairgv set --policy NAME");
  command->add_option("tenant", options.tenant, "Name of the tenant")->type_name("TENANT");
  command->add_option("setting", options.settings, "weight=W or mem=SIZE: the same as --weight and --mem")
      ->type_name("SETTING");
  command->add_option("--weight", options.weight, "The tenant's weight, 1 to 10000")->type_name("W");
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
