#include "tools/fairgv/private_daemon.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "runtime/session/paths.hpp"
#include "runtime/session/socket.hpp"

namespace fairgv::tools {
namespace {

constexpr const char* kIdleSeconds = "30";
constexpr std::chrono::seconds kPatience{20};

/// The exit status of `fairgvd --daemonize`, which says on standard error what is wrong.
Result<int> launch(const std::string& socket, const std::string& config) {
  auto folder = session::program_directory();
  if (!folder) return folder.error();
  const std::string program = folder.value() / "fairgvd";
  std::vector<const char*> arguments{program.c_str(), "--daemonize", "--exit-idle",
                                     kIdleSeconds,    "--socket",    socket.c_str()};
  if (!config.empty()) arguments.insert(arguments.end(), {"--config", config.c_str()});
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot start " + program);
  if (child == 0) {
    ::execv(program.c_str(), const_cast<char* const*>(arguments.data()));
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    return system_error("cannot execute " + program, ENOENT);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// Whether somebody listens; an Error for what starting a daemon would not cure.
Result<bool> answers(const std::string& socket) {
  int code = 0;
  const auto connected = session::Socket::connect(socket, &code);
  if (connected) return true;
  if (code == ENOENT || code == ECONNREFUSED) return false;
  return connected.error();
}

}  // namespace

Result<void> ensure_daemon(const std::string& socket, const std::string& config) {
  const auto there = answers(socket);
  if (!there) return there.error();
  if (there.value()) {
    if (config.empty()) return {};
    return Error{"a daemon already answers at " + socket +
                 ", so --config has no effect: stop it first (fairgv stop)"};
  }
  const std::filesystem::path folder = std::filesystem::path(socket).parent_path();
  if (folder == session::private_directory()) {
    if (auto made = session::ensure_private_directory(folder); !made) return made;
  }
  const auto status = launch(socket, config);
  if (!status) return status.error();
  // A failure may mean that another `fairgv run` was quicker: what counts is whether somebody answers.
  const auto give_up =
      std::chrono::steady_clock::now() + (status.value() == 0 ? kPatience : std::chrono::seconds(1));
  do {
    const auto now = answers(socket);
    if (!now) return now.error();
    if (now.value()) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  } while (std::chrono::steady_clock::now() < give_up);
  return Error{"no daemon could be started at " + socket + " (fairgvd ended with status " +
               std::to_string(status.value()) + ")"};
}

}  // namespace fairgv::tools
