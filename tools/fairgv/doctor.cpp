// fairgv doctor: looks at the machine, changes nothing, and says what is missing or open and what to do.
#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "runtime/session/paths.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/doctor/checks.hpp"
#include "tools/fairgv/doctor/report.hpp"

namespace fairgv::tools {
namespace {

struct DoctorOptions {
  std::optional<std::string> config;
  std::string socket;
  bool json = false;
};

/// As fairgvd chooses, but the system's daemon is also found by others than root.
std::string choose_socket(const DoctorOptions& options, const doctor::Settings& settings) {
  if (!options.socket.empty()) return std::filesystem::absolute(options.socket);
  return std::filesystem::absolute(settings.socket ? *settings.socket : session::default_socket_path());
}

int run_doctor(const DoctorOptions& options) {
  doctor::Examination examination;
  examination.machine = doctor::Machine::here();
  examination.config = options.config;
  if (options.config) {
    examination.settings = doctor::read_settings(*options.config);
    examination.refusal = doctor::daemon_refuses(examination.machine, *options.config);
  }
  examination.socket = choose_socket(options, examination.settings);
  examination.daemon = doctor::ask_daemon(examination.socket);
  const doctor::Findings findings = doctor::examine(examination);
  if (options.json) {
    fmt::print("{}\n", doctor::to_json(findings));
  } else {
    for (const doctor::Finding& finding : findings) fmt::print("{}\n", doctor::to_line(finding));
  }
  return doctor::exit_status(findings);
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  static DoctorOptions options;
  CLI::App* command =
      app.add_subcommand("doctor", "Look at the machine, and say what is missing or open and what to do");
  command->add_option("--config", options.config, "The daemon's configuration")->type_name("FILE");
  command->add_flag("--json", options.json, "For scripts");
  add_socket_option(*command, options.socket);
  command->callback([&action] { action = [] { return run_doctor(options); }; });
}

}  // namespace fairgv::tools
