// The subcommands of `fairgv`: each file adds one to the command line.
//
// A subcommand returns the process' exit code: 0, 1 when something failed, 2 when the command line is wrong.
// A failure is one line on standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace fairgv::tools {

/// Set by the subcommand that was chosen; run once the whole command line is parsed.
using Action = std::function<int()>;

/// `after_dashes`: the arguments behind "--", which are not ours.
void add_run(CLI::App& app, Action& action, const std::vector<std::string>& after_dashes);
void add_ps(CLI::App& app, Action& action);
void add_set(CLI::App& app, Action& action);
/// kill, pause and resume.
void add_interventions(CLI::App& app, Action& action);
void add_migrate(CLI::App& app, Action& action);
void add_park(CLI::App& app, Action& action);
/// checkpoint and restore.
void add_checkpoints(CLI::App& app, Action& action);
/// drain and undrain.
void add_drains(CLI::App& app, Action& action);
void add_top(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);
/// session show.
void add_session(CLI::App& app, Action& action);
void add_focus(CLI::App& app, Action& action);
void add_env(CLI::App& app, Action& action);
void add_restart(CLI::App& app, Action& action);
void add_stop(CLI::App& app, Action& action);
void add_usage(CLI::App& app, Action& action);
void add_sim(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_config(CLI::App& app, Action& action);
void add_reload(CLI::App& app, Action& action);
void add_whoami(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action, const std::vector<std::string>& after_dashes);
void add_help(CLI::App& app, Action& action);
/// "help COMMAND..." becomes "COMMAND... --help", and "help" alone "--help".
void help_first(std::vector<std::string>& arguments);

inline constexpr int kFailed = 1;
inline constexpr int kMisused = 2;

/// Prints "fairgv NAME: message" and returns `code`.
int fail(const std::string& name, const std::string& message, int code = kFailed);

/// The --socket option that most subcommands have.
void add_socket_option(CLI::App& subcommand, std::string& socket);

}  // namespace fairgv::tools
