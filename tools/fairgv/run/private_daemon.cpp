#include "tools/fairgv/run/private_daemon.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/session/paths.hpp"

namespace fairgv::tools {
namespace {

constexpr const char* kIdleSeconds = "30";
constexpr int kAlreadyServed = 3;  // fairgvd: another one is starting, serving or stopping there
constexpr int kNotExecutable = 127;
constexpr std::chrono::seconds kPatience{20};
constexpr std::chrono::milliseconds kBetweenTries{20};

/// The exit status of `fairgvd --daemonize`, and its text on standard error.
struct Launch {
  int status = 0;
  std::string said;
};

/// Everything until the last writer is gone: the daemon turns to its log when it serves.
std::string read_all(int fd) {
  std::string text;
  std::array<char, 1024> part{};
  for (;;) {
    const ssize_t length = ::read(fd, part.data(), part.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(length));
  }
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

Result<Launch> launch(const std::string& socket, const std::string& config) {
  FAIRGV_TRY(folder, session::program_directory());
  const std::string program = folder.value() / "fairgvd";
  std::vector<const char*> arguments{program.c_str(), "--daemonize", "--exit-idle",
                                     kIdleSeconds,    "--socket",    socket.c_str()};
  if (!config.empty()) arguments.insert(arguments.end(), {"--config", config.c_str()});
  arguments.push_back(nullptr);
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot start " + program);
  if (child == 0) {
    ::dup2(writer.get(), STDERR_FILENO);
    ::execv(program.c_str(), const_cast<char* const*>(arguments.data()));
    ::_exit(kNotExecutable);
  }
  writer.reset();
  Launch launched;
  launched.said = read_all(reader.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  launched.status = WIFEXITED(status) ? WEXITSTATUS(status) : kNotExecutable;
  if (launched.said.empty()) launched.said = "cannot execute " + program;
  return launched;
}

/// A connection if a daemon serves the socket; an Error for a fault that starting a daemon would not cure.
Result<std::optional<Control>> try_connect(const std::string& socket) {
  int code = 0;
  auto connected = Control::connect(socket, &code);
  if (connected) return std::optional(std::move(connected).value());
  if (code == ENOENT || code == ECONNREFUSED || code == ECONNRESET) return std::optional<Control>();
  return connected.error();
}

/// The connection to the daemon that we, or another `fairgv run` at the same time, have started.
Result<Control> start_and_connect(const std::string& socket, const std::string& config) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    FAIRGV_TRY(launched, launch(socket, config));
    if (launched->status != 0 && launched->status != kAlreadyServed) {
      return Error{"cannot start a daemon: " + launched->said};
    }
    FAIRGV_TRY(connected, try_connect(socket));
    if (connected.value()) return std::move(*connected.value());
    // Another daemon holds the place but does not serve: it has not begun to, or it is about to end.
    if (std::chrono::steady_clock::now() > give_up) {
      return Error{"a daemon at " + socket + " neither serves nor ends (" + launched->said + ")"};
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace

Result<FoundDaemon> ensure_daemon(const std::string& socket, const std::string& config) {
  FAIRGV_TRY(there, try_connect(socket));
  if (there.value()) {
    if (config.empty()) return FoundDaemon{std::move(*there.value()), false};
    return Error{"a daemon already answers at " + socket +
                 ", so --config has no effect: stop it first (fairgv stop)"};
  }
  FAIRGV_TRY(started, start_and_connect(socket, config));
  return FoundDaemon{std::move(started).value(), true};
}

}  // namespace fairgv::tools
