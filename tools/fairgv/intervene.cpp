// fairgv kill, pause and resume: of a session, or of a tenant with all its sessions.
#include <fmt/core.h>

#include <array>
#include <string>

#include "tools/fairgv/changes.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

struct InterventionOptions {
  std::string target;
  std::string tenant;
  std::string socket;
};

struct InterventionCommand {
  const char* name;
  Intervention what;
  const char* help;
};

constexpr std::array<InterventionCommand, 3> kCommands{{
    {"kill", Intervention::kill,
     "End a session as if its worker had crashed, or all sessions of a tenant: fairgv kill SESSION|TENANT"},
    {"pause", Intervention::pause,
     "Give a session, or a tenant, no turn on any device until it is resumed: fairgv pause SESSION|TENANT"},
    {"resume", Intervention::resume, "Let what was paused or parked go on: fairgv resume SESSION|TENANT"},
}};

int intervene(const InterventionCommand& command, const InterventionOptions& options) {
  if (options.target.empty() == options.tenant.empty()) {
    return fail(command.name,
                fmt::format("name a session or a tenant: fairgv {} SESSION|TENANT", command.name), kMisused);
  }
  const auto change = options.tenant.empty() ? intervention(command.what, options.target)
                                             : tenant_intervention(command.what, options.tenant);
  if (!change) return fail(command.name, change.error().message, kMisused);
  auto control = Control::connect(options.socket);
  if (!control) return fail(command.name, control.error().message);
  const auto answer = control->ask(change.value().request);
  if (!answer) return fail(command.name, answer.error().message);
  if (const auto outcome = control::parse_outcome(answer.value()); !outcome)
    return fail(command.name, outcome.error().message);
  fmt::print("{}\n", change.value().done);
  return 0;
}

}  // namespace

void add_interventions(CLI::App& app, Action& action) {
  static std::array<InterventionOptions, kCommands.size()> all_options;
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    const InterventionCommand& command = kCommands.at(i);
    InterventionOptions& options = all_options.at(i);
    CLI::App* const added = app.add_subcommand(command.name, command.help);
    added
        ->add_option("target", options.target,
                     "Number of the session, as by fairgv ps, or name of the tenant")
        ->type_name("SESSION|TENANT");
    added->add_option("--tenant", options.tenant, "Name of the tenant, also of one that looks like a number")
        ->type_name("TENANT");
    add_socket_option(*added, options.socket);
    added->callback([&action, &command, &options] {
      action = [&command, &options] { return intervene(command, options); };
    });
  }
}

}  // namespace fairgv::tools
