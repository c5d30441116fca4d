// fairgv set: changes a tenant's weight, promises or memory, or how devices are shared, while programs run.
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
  TenantSettings of_tenant{.weight = {{}, "--weight"},
                           .min = {{}, "--min"},
                           .max = {{}, "--max"},
                           .service = {{}, "--class"},
                           .memory = {{}, "--mem"}};
  std::string policy;
  std::optional<std::uint32_t> device;
  std::string socket;
};

/// The value that "NAME=VALUE" sets; null: there is no such name.
std::string* setting_named(TenantSettings& settings, const std::string& name) {
  if (name == "weight") return &settings.weight.text;
  if (name == "min") return &settings.min.text;
  if (name == "max") return &settings.max.text;
  if (name == "class") return &settings.service.text;
  return name == "mem" || name == "memory" ? &settings.memory.text : nullptr;
}

bool is_empty(const TenantSettings& settings) {
  return settings.weight.text.empty() && settings.min.text.empty() && settings.max.text.empty() &&
         settings.service.text.empty() && settings.memory.text.empty();
}

/// Puts "weight=4" where --weight 4 is; an Error if it is no setting, or is there twice.
Result<void> take_setting(SetOptions& options, const std::string& setting) {
  const auto equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  std::string* const value = setting_named(options.of_tenant, name);
  if (equals == std::string::npos || value == nullptr) {
    return Error{"'" + setting +
                 "' is no setting: " + did_you_mean(name, {"weight", "min", "max", "class", "mem"}) +
                 "a tenant has --weight, --min, --max, --class and --mem"};
  }
  if (!value->empty()) return Error{name + " is there twice"};
  *value = setting.substr(equals + 1);
  if (value->empty()) return Error{name + " needs a value: fairgv set TENANT --" + name + " ..."};
  return {};
}

int apply(const SetOptions& options, const Change& change) {
  auto control = Control::connect(options.socket);
  if (!control) return fail("set", control.error().message);
  const auto answer = control->ask(change.request);
  if (!answer) return fail("set", answer.error().message);
  if (const auto outcome = control::parse_outcome(answer.value()); !outcome)
    return fail("set", outcome.error().message);
  fmt::print("{}\n", change.done);
  for (const std::string& warning : control::warnings_of(answer.value()))
    fmt::print("warning: {}\n", warning);
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
  const bool of_tenant = !is_empty(options.of_tenant);
  if (!options.policy.empty() && (of_tenant || !options.tenant.empty())) {
    return fail("set", "a policy is a device's, not a tenant's: fairgv set --policy NAME [--device N]",
                kMisused);
  }
  if (of_tenant && options.tenant.empty())
    return fail("set", "whose? fairgv set TENANT --weight W, --min SHARE, --mem SIZE", kMisused);
  if (!of_tenant && options.policy.empty()) {
    return fail(
        "set",
        "say what to change: fairgv set TENANT --weight W, --min SHARE, --max SHARE, --class CLASS or "
        "--mem SIZE, or fairgv set --policy NAME",
        kMisused);
  }
  const auto change = of_tenant ? tenant_change(options.tenant, options.of_tenant)
                                : policy_change(options.policy, options.device);
  if (!change) return fail("set", change.error().message, kMisused);
  return apply(options, change.value());
}

}  // namespace

void add_set(CLI::App& app, Action& action) {
  static SetOptions options;
  CLI::App* command =
      app.add_subcommand("set",
                         "Change what holds while programs run: fairgv set TENANT --weight W --min SHARE "
                         "--mem SIZE, or fairgv set --policy NAME");
  command->add_option("tenant", options.tenant, "Name of the tenant")->type_name("TENANT");
  command
      ->add_option("setting", options.settings,
                   "weight=W, min=SHARE, max=SHARE, class=CLASS, mem=SIZE: the same as the options")
      ->type_name("SETTING");
  TenantSettings& its = options.of_tenant;
  command->add_option("--weight", its.weight.text, "The tenant's weight, 1 to 10000")->type_name("W");
  command
      ->add_option("--min", its.min.text,
                   "Its guarantee while it has work: 20% of each device, 5ms/50ms of device time, none")
      ->type_name("SHARE");
  command->add_option("--max", its.max.text, "Its ceiling, also if nobody else wants the device: 50%")
      ->type_name("SHARE");
  command
      ->add_option("--class", its.service.text, "How it is served: normal, latency (latency:5ms), or batch")
      ->type_name("CLASS");
  command
      ->add_option("--mem", its.memory.text,
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
  command->footer("All settings of a tenant hold afterwards, or, with exit status 1, none.");
  command->callback([&action] { action = [] { return set(options); }; });
}

}  // namespace fairgv::tools
