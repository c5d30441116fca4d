// The `fairgv` command: run programs as tenants, see who uses the device, change weights, measure.
#include <fmt/core.h>

#include <algorithm>

#include "runtime/control/command_line.hpp"
#include "tools/completion/words.hpp"
#include "tools/fairgv/command.hpp"

namespace fairgv::tools {

int fail(const std::string& name, const std::string& message, int code) {
  fmt::print(stderr, "fairgv {}: {}\n", name, message);
  return code;
}

void add_socket_option(CLI::App& subcommand, std::string& socket) {
  subcommand
      .add_option("--socket", socket,
                  "The daemon's socket (default: FAIRGV_SOCKET, or where one is looked for)")
      ->type_name("PATH");
}

namespace {

/// Completions, for the build and packages; not in --help.
int print_completion(const CLI::App& app, const std::string& shell) {
  const CompletedCommand root = completed_command(app);
  if (shell == "bash") {
    fmt::print("{}", bash_completion(root, app.get_name()));
  } else if (shell == "zsh") {
    fmt::print("{}", zsh_completion(root, app.get_name()));
  } else {
    fmt::print(stderr, "fairgv: there are completions for bash and zsh, and not for '{}'\n", shell);
    return kMisused;
  }
  return 0;
}

int run(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> after_dashes(dashes == arguments.end() ? dashes : dashes + 1,
                                              arguments.end());
  arguments.erase(dashes, arguments.end());

  CLI::App app{"FairGV: several users share one accelerator by weight", "fairgv"};
  app.set_version_flag("--version", "fairgv " FAIRGV_VERSION);
  app.require_subcommand(1);
  app.footer("Exit status: 0 done, 1 failed, 2 asked for wrongly; 'fairgv run' exits as its program does.");
  Action action;
  add_run(app, action, after_dashes);
  add_ps(app, action);
  add_set(app, action);
  add_interventions(app, action);
  add_migrate(app, action);
  add_park(app, action);
  add_drains(app, action);
  add_checkpoints(app, action);
  add_top(app, action);
  add_trace(app, action);
  add_session(app, action);
  add_focus(app, action);
  add_env(app, action);
  add_restart(app, action);
  add_stop(app, action);
  add_usage(app, action);
  add_reload(app, action);
  add_config(app, action);
  add_whoami(app, action);
  add_sim(app, action);
  add_doctor(app, action);
  add_bench(app, action, after_dashes);
  add_help(app, action);
  help_first(arguments);
  // CLI11 would only say that some command is missing.
  const auto is_first_word = [&](const CLI::App* command) { return command->get_name() == arguments[0]; };
  if (!arguments.empty() && !arguments[0].starts_with("-") && app.get_subcommands(is_first_word).empty()) {
    fmt::print(stderr, "fairgv: {}\n", control::unknown_command(arguments[0], app, "fairgv"));
    return kMisused;
  }
  if (arguments.size() == 2 && arguments[0] == "--completion") return print_completion(app, arguments[1]);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "fairgv: {}\n", control::misuse_of(app, error));
    return kMisused;
  }
  return action();
}

}  // namespace
}  // namespace fairgv::tools

int main(int argc, char** argv) {
  try {
    return fairgv::tools::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fairgv: {}\n", error.what());
    return fairgv::tools::kFailed;
  }
}
