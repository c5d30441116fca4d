#include "runtime/daemon/service/background.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <system_error>

#include "runtime/session/own_files.hpp"

namespace fairgv::daemon {
namespace {

constexpr std::uintmax_t kLargestLog = std::uintmax_t{1} << 20;

[[noreturn]] void wait_for(pid_t child, int ready) {
  char byte = 0;
  ssize_t length = -1;
  do {
    length = ::read(ready, &byte, 1);
  } while (length < 0 && errno == EINTR);
  if (length == 1) ::_exit(0);
  // It ended before it served, and has said why.
  int status = 0;
  ::waitpid(child, &status, 0);
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

}  // namespace

Result<Background> Background::enter() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot go into the background");
  if (child > 0) {
    writer.reset();
    wait_for(child, reader.get());
  }
  ::setsid();
  if (::chdir("/") != 0) return system_error("cannot change to the root folder");
  return Background(std::move(writer));
}

Result<void> Background::ready(const std::filesystem::path& log) {
  std::error_code code;
  if (std::filesystem::file_size(log, code) > kLargestLog && !code) {
    std::filesystem::rename(log, log.string() + ".old", code);
  }
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return system_error("cannot open /dev/null");
  FAIRGV_TRY(file, session::open_own_file(log, O_WRONLY | O_APPEND));
  if (::dup2(null.get(), STDIN_FILENO) < 0 || ::dup2(file->get(), STDOUT_FILENO) < 0 ||
      ::dup2(file->get(), STDERR_FILENO) < 0) {
    return system_error("cannot write to the log " + log.string());
  }
  const char byte = 1;
  if (::write(ready_.get(), &byte, 1) != 1) return system_error("nobody waits for the daemon any more");
  ready_.reset();
  return {};
}

}  // namespace fairgv::daemon
