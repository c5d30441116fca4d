// fairgv config: shows the daemon's configuration, and its mistakes. Only the daemon's program reads it, so
// that one program decides: this command runs `fairgvd --check` and the like, or asks the running daemon.
#include <fmt/core.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "runtime/control/answers.hpp"
#include "runtime/session/paths.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"
#include "tools/fairgv/doctor/settings.hpp"

namespace fairgv::tools {
namespace {

struct ConfigCommand {
  std::optional<std::string> file;
  bool defaults = false;
  bool running = false;
  std::string socket;
};

int check_config(const ConfigCommand& command) {
  const std::string mistakes = doctor::daemon_refuses(doctor::Machine::here(), command.file);
  if (mistakes.empty()) {
    fmt::print("{}no mistakes\n", command.file ? *command.file + ": " : "");
    return 0;
  }
  fmt::print(stderr, "{}\n", mistakes);
  return kFailed;
}

/// Becomes fairgvd, which prints.
int become_daemon(const std::vector<std::string>& options) {
  const auto folder = session::program_directory();
  if (!folder) return fail("config", folder.error().message);
  const std::string program = folder.value() / "fairgvd";
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& option : options) words.push_back(const_cast<char*>(option.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  return fail("config", system_error("cannot execute " + program).message);
}

int show_running(const ConfigCommand& command) {
  auto control = Control::connect(command.socket);
  if (!control) return fail("config", control.error().message);
  const auto answer = control->ask({control::ControlRequest::Command::config, {}, {}});
  if (!answer) return fail("config", answer.error().message);
  const auto toml = control::parse_config_answer(answer.value());
  if (!toml) return fail("config", toml.error().message);
  fmt::print("{}", toml.value());
  return 0;
}

int show_config(const ConfigCommand& command) {
  if (command.running) return show_running(command);
  if (command.defaults) return become_daemon({"--print-defaults"});
  std::vector<std::string> options{"--print-config"};
  if (command.file) options.insert(options.end(), {"--config", *command.file});
  return become_daemon(options);
}

}  // namespace

void add_config(CLI::App& app, Action& action) {
  static ConfigCommand options;
  CLI::App* command =
      app.add_subcommand("config", "Check and show the daemon's configuration, fairgvd.toml(5)");
  command->require_subcommand(1);
  const char* const file =
      "The configuration (default: the one that fairgvd reads); its drop-in files are read, too";

  CLI::App* check = command->add_subcommand(
      "check", "Say what is wrong with a configuration: a line FILE:LINE:COLUMN: WHAT for each mistake");
  check->add_option("file", options.file, file)->type_name("FILE");
  check->footer("Exit status: 0 if nothing is wrong, 1 if something is, 2 if the command is.");
  check->callback([&action] { action = [] { return check_config(options); }; });

  CLI::App* show =
      command->add_subcommand("show", "Print what holds, as TOML, and where each value comes from");
  auto* const positional = show->add_option("file", options.file, file)->type_name("FILE");
  auto* const defaults = show->add_flag("--defaults", options.defaults,
                                        "All options with their defaults and what they mean, to start from");
  auto* const running = show->add_flag("--running", options.running,
                                       "What the daemon that answers goes by; for administrators");
  defaults->excludes(positional);
  running->excludes(positional)->excludes(defaults);
  add_socket_option(*show, options.socket);
  show->callback([&action] { action = [] { return show_config(options); }; });
}

}  // namespace fairgv::tools
