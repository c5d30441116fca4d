// fairgvd: command line, and the steps that must come in the right order before the server runs.
#include <fmt/core.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "runtime/control/command_line.hpp"
#include "runtime/daemon/config/report.hpp"
#include "runtime/daemon/server.hpp"
#include "runtime/daemon/service/background.hpp"
#include "runtime/daemon/service/lock_file.hpp"
#include "runtime/daemon/service/log_format.hpp"
#include "runtime/daemon/service/service_manager.hpp"
#include "runtime/session/own_files.hpp"
#include "runtime/session/paths.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

constexpr int kFailure = 1;
constexpr int kUsage = 2;
constexpr int kAlreadyServed = 3;  // `fairgv run` relies on it: try to connect again

struct CommandLine {
  std::optional<std::string> config;
  std::optional<std::string> socket;
  std::optional<double> exit_idle_s;
  std::optional<std::string> log_level;
  bool daemonize = false;
  bool check = false;            // only
  bool print_config = false;     // the same
  bool print_defaults = false;   // the same
  std::optional<int> resume_fd;  // of a handover, from the program before this one
};

int fail(const std::string& message, int status = kFailure) {
  std::string line = message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print(stderr, "fairgvd: {}\n", line);
  return status;
}

/// A service manager's socket goes before everything, and nothing may contradict it.
Result<std::optional<ActivatedSocket>> activated_socket(const CommandLine& command, const Config& config) {
  auto activated = take_activated_socket();
  if (!activated || !activated.value()) return activated;
  for (const auto& wanted : {command.socket, config.socket}) {
    if (!wanted || fs::absolute(*wanted) == activated.value()->path) continue;
    return Error{
        "the service manager listens at " + activated.value()->path + " and not at " + *wanted +
        ": change ListenSequentialPacket= of fairgvd.socket, or leave --socket and [daemon] socket out"};
  }
  FAIRGV_CHECK(check_access(*activated.value(), config.group));
  return activated;
}

/// Every mistake of a configuration is a line; in a check, as editors expect it.
int refuse(const Error& error, bool check) {
  for (const std::string& line : lines_of(error))
    fmt::print(stderr, "{}{}\n", check ? "" : "fairgvd: ", line);
  return kFailure;
}

std::optional<std::string> absolute(const std::optional<std::string>& path) {
  return path ? std::optional<std::string>(fs::absolute(*path)) : std::nullopt;
}

std::string choose_socket(const CommandLine& command, const Config& config) {
  if (command.socket) return fs::absolute(*command.socket);
  if (config.socket) return fs::absolute(*config.socket);
  if (const char* variable = std::getenv("FAIRGV_SOCKET"); variable != nullptr && *variable != '\0') {
    return fs::absolute(variable);
  }
  if (::geteuid() == 0) return session::kSystemSocket;
  return session::private_directory() / "fairgvd.sock";
}

/// The two default folders are made when they are missing; others must be there.
Result<void> prepare_folder(const fs::path& folder) {
  if (folder == session::private_directory()) return session::ensure_private_directory(folder);
  if (folder == fs::path(session::kSystemSocket).parent_path()) {
    std::error_code ignored;
    fs::create_directory(folder, ignored);
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return system_error("cannot make a socket in " + folder.string());
  // Clients would not trust a daemon there.
  auto safe = session::check_folder(folder, session::Neighbours::may_be);
  return safe ? safe : Error{"cannot make a socket in " + folder.string() + ": " + safe.error().message};
}

/// The worker lies beside us in the build tree and in a simple installation, else in libexec.
Result<fs::path> find_worker() {
  FAIRGV_TRY(folder, session::program_directory());
  for (const fs::path& candidate : {folder.value() / "fairgv-vgpu",
                                    folder.value().parent_path() / "libexec" / "fairgv" / "fairgv-vgpu"}) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return Error{"cannot find the worker program fairgv-vgpu beside fairgvd in " + folder->string() +
               " or in ../libexec/fairgv: install it again"};
}

void start_logging() {
  auto logger =
      std::make_shared<spdlog::logger>("fairgvd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(make_log_formatter());
  spdlog::set_default_logger(std::move(logger));
}

int serve(const CommandLine& command) {
  Config config;
  const auto config_path = command.config ? std::optional(*command.config) : default_config_path();
  if (config_path) {
    auto read = read_config(*config_path);
    if (!read) return refuse(read.error(), command.check);
    config = std::move(read).value();
  }
  // A daemon in the background works in another folder, and reads the file again from there.
  const auto config_file = absolute(config_path);
  if (command.check) return 0;
  if (command.print_config) {
    fmt::print("{}", to_toml(config));
    return 0;
  }
  auto activated = activated_socket(command, config);
  if (!activated) return fail(activated.error().message);
  const fs::path socket =
      activated.value() ? fs::path(activated.value()->path) : fs::path(choose_socket(command, config));
  // Sessions outlive a folder that has changed.
  if (!command.resume_fd) {
    if (auto done = prepare_folder(socket.parent_path()); !done) return fail(done.error().message);
  }
  auto worker = find_worker();
  if (!worker) return fail(worker.error().message);

  std::optional<Handover> handover;
  if (command.resume_fd) {
    auto taken = take(UniqueFd(*command.resume_fd));
    if (!taken) return fail("cannot go on where the daemon before has stopped: " + taken.error().message);
    handover = std::move(taken).value();
  }
  std::optional<Background> background;
  if (command.daemonize) {
    auto entered = Background::enter();
    if (!entered) return fail(entered.error().message);
    background.emplace(std::move(entered).value());
  }
  const auto lock = handover ? Result<std::optional<LockFile>>(LockFile::adopt(UniqueFd(handover->lock)))
                             : LockFile::acquire(fs::path(socket).replace_extension("lock"));
  if (!lock) return fail(lock.error().message);
  if (!lock.value()) return fail("another fairgvd already serves " + socket.string(), kAlreadyServed);

  const auto folder = session::program_directory();
  if (!folder) return fail(folder.error().message);
  ServerSettings settings{socket,
                          config_file,
                          std::nullopt,
                          command.log_level,
                          worker.value(),
                          folder.value() / "fairgvd",
                          lock.value()->fd(),
                          activated.value() ? std::move(activated.value()->fd) : UniqueFd()};
  if (command.exit_idle_s) settings.exit_idle = std::chrono::duration<double>(*command.exit_idle_s);
  if (handover) start_logging();
  auto server = Server::create(std::move(settings), std::move(config), handover);
  if (!server) return fail(server.error().message);
  if (background) {
    if (auto done = background->ready(fs::path(socket).replace_extension("log")); !done) {
      return fail(done.error().message);
    }
  }
  if (!handover) start_logging();
  server.value()->run();
  return 0;
}

int main_of(int argc, char** argv) {
  CLI::App app{"Shares accelerators among tenants by weight", "fairgvd"};
  CommandLine command;
  bool foreground = false;
  std::vector<std::string> levels(std::begin(kLogLevels), std::end(kLogLevels));
  app.add_option("--config", command.config,
                 "TOML file, see fairgvd.toml(5) (default: /etc/fairgv/fairgvd.toml for root, else "
                 "~/.config/fairgv/fairgvd.toml, if it exists)")
      ->type_name("FILE");
  const auto only = [](CLI::Option* option) {
    return option->group("Only look at the configuration, and end");
  };
  auto* const check =
      only(app.add_flag("--check", command.check, "Say what is wrong with it: a line for each mistake"));
  auto* const print = only(app.add_flag("--print-config", command.print_config,
                                        "Print what holds, as TOML, and where it comes from"))
                          ->excludes(check);
  only(app.add_flag("--print-defaults", command.print_defaults,
                    "Print all options with their defaults and what they mean, as TOML"))
      ->excludes(check)
      ->excludes(print);
  app.add_option("--socket", command.socket, "Where to listen; over the configuration")->type_name("PATH");
  app.add_option("--exit-idle", command.exit_idle_s,
                 "End after so long without clients; 0: never; over the configuration")
      ->check(CLI::Range(0.0, 31'536'000.0))
      ->type_name("SECONDS");
  app.add_option("--log-level", command.log_level, "What to log; over the configuration")
      ->check(CLI::IsMember(levels));
  auto* const in_front = app.add_flag("--foreground", foreground, "Stay in the foreground (the default)");
  app.add_flag("--daemonize", command.daemonize, "Go into the background once the socket is served")
      ->excludes(in_front);
  app.add_option("--resume-fd", command.resume_fd)->group("");  // the daemon's own: see succession.hpp
  app.set_version_flag("--version", std::string("fairgvd ") + FAIRGV_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(control::misuse_of(app, error), kUsage);
  }
  if (command.print_defaults) {
    fmt::print("{}", default_toml());
    return 0;
  }
  return serve(command);
}

}  // namespace
}  // namespace fairgv::daemon

int main(int argc, char** argv) {
  try {
    return fairgv::daemon::main_of(argc, argv);
  } catch (const std::exception& error) {
    // Only a fault of ours or a lack of memory gets here.
    fmt::print(stderr, "fairgvd: {}\n", error.what());
    return 1;
  }
}
