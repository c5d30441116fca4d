// fairgv doctor: looks at the machine, changes nothing, and reports anything missing or open, with a remedy.
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "runtime/session/paths.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/doctor/checks/checks.hpp"
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

/// The configuration that the asked daemon would have read by itself; none where there is none, or where not
/// everybody may read it.
std::optional<std::string> unnamed_config(const DoctorOptions& options) {
  const std::string socket = options.socket.empty() ? session::default_socket_path() : options.socket;
  const std::string path =
      socket == session::kSystemSocket ? session::kSystemConfig : session::default_config_path();
  return ::access(path.c_str(), R_OK) == 0 ? std::optional(path) : std::nullopt;
}

int run_doctor(const DoctorOptions& options) {
  doctor::Examination examination;
  examination.machine = doctor::Machine::here();
  examination.config = options.config ? options.config : unnamed_config(options);
  if (examination.config) {
    examination.settings = doctor::read_settings(*examination.config);
    examination.refusal = doctor::daemon_refuses(examination.machine, *examination.config);
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
