// fairgv run: a program as a tenant.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "runtime/control/answers.hpp"
#include "runtime/control/command_line.hpp"
#include "runtime/session/direct/cuda_places.hpp"
#include "runtime/session/identity.hpp"
#include "runtime/session/paths.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"
#include "tools/fairgv/platforms.hpp"
#include "tools/fairgv/promises.hpp"
#include "tools/fairgv/run/cuda_program.hpp"
#include "tools/fairgv/run/environment.hpp"
#include "tools/fairgv/run/private_daemon.hpp"

namespace fairgv::tools {
namespace {

constexpr int kCannotExecute = 126;  // as shells answer
constexpr int kNotFound = 127;
constexpr int kOutOfTheWay = 200;

struct RunOptions {
  TenantOptions tenant;
  std::string config;
  bool verbose = false;
  bool direct = false;     // asks for direct mode
  bool no_direct = false;  // does without where it is on
  std::string unknown;     // the message if the program is no program, but an option
  std::vector<std::string> program;
};

template <class... Arguments>
void tell(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  fmt::print(stderr, "fairgv run: {}\n", fmt::format(text, std::forward<Arguments>(arguments)...));
}

/// The tenant that the program will be, as the daemon that serves it decides. This process' environment is
/// the program's by now.
Result<control::WhoAmI> find_tenant(Control& daemon) {
  FAIRGV_TRY(identity, session::identity_from_environment());
  control::ControlRequest request;
  request.command = control::ControlRequest::Command::whoami;
  request.tenant = identity->tenant.value_or("");
  request.wish = identity->wish;
  FAIRGV_TRY(answer, daemon.ask(request));
  return control::parse_whoami(answer.value());
}

void tell_tenant(const Result<control::WhoAmI>& found) {
  if (!found) return tell("tenant: {}", found.error().message);
  const control::WhoAmI& who = found.value();
  const char* const weight = std::getenv("FAIRGV_WEIGHT");
  const char* const memory = std::getenv("FAIRGV_MEM");
  const bool other = weight != nullptr && std::to_string(who.weight) != weight;
  const std::string promises = promises_text({who.min, who.max, who.service});
  tell("tenant {}, weight {}{}{}, memory {}, by {}", who.tenant, who.weight,
       other ? fmt::format(" (asks for {})", weight) : "", promises.empty() ? "" : ", " + promises,
       memory == nullptr ? "as the configuration allows" : memory, who.rule.value_or("the name it asks for"));
}

/// Prints what was done for the program, a line each on standard error.
void tell_all(const RunOptions& options, const Variables& variables, bool started,
              const Result<control::WhoAmI>& tenant) {
  tell("daemon at {}: {}", options.tenant.socket,
       started ? "started for you; ends half a minute after its last program" : "was there");
  tell_tenant(tenant);
  for (const auto& [name, value] : variables) {
    if (value) {
      tell("{}={}", name, *value);
    } else {
      tell("{} is not set", name);
    }
  }
  for (const std::string& line : platforms_found()) tell("{}", line);
  std::string command;
  for (const std::string& word : options.program) command += " " + word;
  tell("becomes{}", command);
}

/// The program inherits the connection to the daemon, though it knows nothing of it: a daemon that ends when
/// it is idle must still be there when the program makes its first OpenCL call, however late. The number is
/// out of the way of shell scripts.
Result<void> keep_over_exec(UniqueFd connection) {
  if (::fcntl(connection.get(), F_DUPFD, kOutOfTheWay) < 0) {
    return system_error("cannot keep the connection to the daemon");
  }
  return {};
}

/// Whether CUDA programs are to keep the driver in their own process; an Error if they may not.
Result<bool> wants_direct(const RunOptions& options, const Result<control::WhoAmI>& tenant) {
  const char* const variable = std::getenv("FAIRGV_DIRECT");
  const bool by_variable = variable != nullptr && std::strcmp(variable, "1") == 0;
  const bool asks = options.direct || (by_variable && !options.no_direct);
  if (!tenant) return asks ? Result<bool>(tenant.error()) : Result<bool>(false);
  const auto mode = tenant->direct.value_or(session::DirectMode::off);
  if (!asks) return mode == session::DirectMode::on && !options.no_direct && cuda_direct_folder().has_value();
  if (!cuda_direct_folder()) {
    return Error{"this FairGV was built without CUDA, so there is no direct mode: install one that has it"};
  }
  if (!tenant->direct) {
    return Error{"this fairgvd has no direct mode: install a newer release and run `fairgv restart`"};
  }
  if (mode == session::DirectMode::off) {
    return Error{
        "direct mode is off for tenant " + tenant->tenant +
        ": set direct = \"fallback\" in [cuda] or in the tenant's table of fairgvd.toml, or run the program "
        "without it"};
  }
  return true;
}

/// A CUDA program that goes past FairGV is no tenant: the user should know why. A runtime in the program that
/// cannot be replaced is reported by the preloaded library, which sees libraries, too.
void warn_of_obstacle(const std::string& program) {
  const char* const log = std::getenv("FAIRGV_LOG");
  if (log != nullptr && std::strcmp(log, "off") == 0) return;
  const auto folder = cuda_folder();
  if (!folder) return;
  if (const auto obstacle = cuda_obstacle(program, *folder))
    fmt::print(stderr, "fairgv run: {}\n", *obstacle);
}

void set_variables(const Variables& variables) {
  for (const auto& [name, value] : variables) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
}

/// The user's own settings of the dynamic linker. A direct program keeps the runtime that it carries, so that
/// nothing of what others are given may stay.
Variables linker_variables() {
  Variables variables;
  for (const char* const name : {"LD_LIBRARY_PATH", "LD_PRELOAD"}) {
    const char* const value = std::getenv(name);
    variables.emplace_back(name, value != nullptr ? std::optional<std::string>(value) : std::nullopt);
  }
  return variables;
}

/// Becomes the program: its exit code is ours. Returns only when it cannot be executed.
int become(const std::vector<std::string>& program) {
  std::vector<char*> arguments;
  for (const std::string& argument : program) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int code = errno;
  return fail("run", system_error("cannot execute '" + program[0] + "'", code).message,
              code == ENOENT ? kNotFound : kCannotExecute);
}

int run(RunOptions& options) {
  if (options.program.empty())
    return fail("run", "no program given: fairgv run -- program arguments", kMisused);
  if (options.program[0].starts_with("-")) {
    return fail("run", options.unknown, kMisused);
  }
  auto variables = tenant_variables(options.tenant);
  if (!variables) return fail("run", variables.error().message, kMisused);
  const Variables linkers_own = linker_variables();
  auto daemon = ensure_daemon(options.tenant.socket, options.config);
  if (!daemon) return fail("run", daemon.error().message);
  set_variables(variables.value());
  // Without an answer, the program's first call says what is wrong.
  const auto tenant = find_tenant(daemon->control);
  if (tenant && tenant->refusal) return fail("run", *tenant->refusal);
  const auto direct = wants_direct(options, tenant);
  if (!direct) return fail("run", direct.error().message);
  if (direct.value()) {
    options.tenant.direct = true;
    set_variables(linkers_own);
    variables = tenant_variables(options.tenant);
    if (!variables) return fail("run", variables.error().message, kMisused);
    if (!tenant->cuda_library.empty())
      variables->emplace_back(session::kDriverVariable, tenant->cuda_library);
    set_variables(variables.value());
  }
  if (auto kept = keep_over_exec(daemon->control.release()); !kept) return fail("run", kept.error().message);
  if (options.verbose) tell_all(options, variables.value(), daemon->started, tenant);
  if (!direct.value()) warn_of_obstacle(options.program[0]);
  return become(options.program);
}

}  // namespace

void add_run(CLI::App& app, Action& action, const std::vector<std::string>& after_dashes) {
  static RunOptions options;
  CLI::App* command =
      app.add_subcommand("run", "Run a program as a tenant: fairgv run [options] -- program arguments");
  add_tenant_options(*command, options.tenant);
  command->add_option("--config", options.config, "Configuration of the daemon, if one has to be started")
      ->type_name("FILE");
  command->add_flag("--verbose", options.verbose, "Say what is done for the program, on standard error");
  auto* const direct =
      command->add_flag("--direct", options.direct,
                        "CUDA programs keep the driver in their own process, if the configuration allows it");
  command->add_flag("--no-direct", options.no_direct, "They have a worker, also where direct mode is on")
      ->excludes(direct);
  add_socket_option(*command, options.tenant.socket);
  command->prefix_command();  // without "--", the program begins at the first word that is not ours
  command->footer(
      "Starts a daemon of your own when none answers; it ends half a minute after its last tenant.\n"
      "Exit status: 1 if the daemon refuses the program, which is not started then; else the program's.");
  command->callback([&action, &after_dashes, command] {
    options.program = command->remaining();
    options.program.insert(options.program.end(), after_dashes.begin(), after_dashes.end());
    if (!options.program.empty())
      options.unknown = control::unknown_option(options.program[0], *command, "fairgv run");
    action = [] {
      const std::string socket =
          options.tenant.socket.empty() ? session::default_socket_path() : options.tenant.socket;
      options.tenant.socket = std::filesystem::absolute(socket);
      return run(options);
    };
  });
}

}  // namespace fairgv::tools
