// fairgv whoami: the tenant of a program that is started here, and the rule for that.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/base/memory_size.hpp"
#include "runtime/control/answers.hpp"
#include "runtime/session/identity.hpp"
#include "runtime/session/protocol.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"
#include "tools/fairgv/promises.hpp"

namespace fairgv::tools {
namespace {

struct WhoOptions {
  std::optional<std::string> tenant;
  bool json = false;
  std::string socket;
};

void line(const char* what, const std::string& text) {
  fmt::print("{:<14} {}\n", what, text);
}

void print_who(const control::WhoAmI& who) {
  std::string groups;
  for (const std::uint64_t group : who.groups) groups += (groups.empty() ? "" : ", ") + std::to_string(group);
  line("user", fmt::format("{} ({}), groups {}{}", who.user, who.uid, groups,
                           who.administrator ? ", administers the daemon" : ""));
  if (who.counts_for) line("counts for", *who.counts_for + ", whose subordinate id it is");
  line("control group", who.cgroup.value_or("unknown"));
  line("container", who.container.value_or("none"));
  if (!who.tenant.empty()) line("rule", who.rule.value_or("none fits"));
  if (who.refusal) line("refused", *who.refusal);
  if (who.tenant.empty()) return;
  line("tenant", who.tenant);
  line("class", who.class_name.value_or("none"));
  line("weight", std::to_string(who.weight));
  const Promises promises{who.min, who.max, who.service};
  if (promises.has_min()) line("min", who.min + " of each device, while it has work");
  if (promises.has_max()) line("max", who.max + " of each device");
  if (promises.has_service()) line("service", who.service);
  for (std::size_t device = 0; device < who.memory_limits.size(); ++device) {
    line(device == 0 ? "memory" : "",
         fmt::format("{} of device {}", readable_bytes(who.memory_limits[device]), device));
  }
  if (!who.devices.empty() && who.devices != "all") line("devices", who.devices);
  for (const std::string& each : who.device_choice) line("", each);
}

int whoami(WhoOptions& options) {
  const auto identity = session::identity_from_environment();
  if (!identity) return fail("whoami", identity.error().message);
  if (!options.tenant) options.tenant = identity->tenant;
  if (options.tenant && !session::is_tenant_name(*options.tenant)) {
    return fail("whoami", session::tenant_name_error(*options.tenant, "--tenant").message, kMisused);
  }
  auto control = Control::connect(options.socket);
  if (!control) return fail("whoami", control.error().message);
  control::ControlRequest request;
  request.command = control::ControlRequest::Command::whoami;
  request.tenant = options.tenant.value_or("");
  request.wish = identity->wish;
  const auto answer = control->ask(request);
  if (!answer) return fail("whoami", answer.error().message);
  const auto who = control::parse_whoami(answer.value());
  if (!who) return fail("whoami", who.error().message);
  if (options.json) {
    fmt::print("{}\n", nlohmann::json::parse(answer.value()).dump(2));
  } else {
    print_who(who.value());
  }
  return who->refusal ? kFailed : 0;
}

}  // namespace

void add_whoami(CLI::App& app, Action& action) {
  static WhoOptions options;
  CLI::App* command = app.add_subcommand(
      "whoami",
      "Say which tenant a program that is started here would be, by which rule, and what it would have");
  command->add_option("--tenant", options.tenant, "As if it asked for this one (default: FAIRGV_TENANT)")
      ->type_name("TENANT");
  command->add_flag("--json", options.json, "For scripts");
  add_socket_option(*command, options.socket);
  command->footer("Exit status: 1 if the program would be refused.");
  command->callback([&action] { action = [] { return whoami(options); }; });
}

}  // namespace fairgv::tools
