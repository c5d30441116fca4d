#include "tools/fairgv/doctor/apart.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "runtime/base/handle.hpp"

namespace fairgv::tools::doctor {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void work_apart(const std::function<int(int out)>& work, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  ::_exit(work(out));
}

/// Reads until the other end is closed; false if that takes too long.
bool read_until(int fd, Clock::time_point end, std::string& said) {
  std::array<char, 1024> part{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd readable{fd, POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&readable, 1, static_cast<int>(left));
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t length = ::read(fd, part.data(), part.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return true;
    said.append(part.data(), static_cast<std::size_t>(length));
  }
}

std::string killed_by(int signal) {
  const char* const words = ::sigdescr_np(signal);
  return "was killed by signal " + std::to_string(signal) + " (" + (words == nullptr ? "?" : words) + ")";
}

}  // namespace

Result<Apart> run_apart(const std::function<int(int out)>& work, std::chrono::milliseconds patience) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot start a process");
  if (child == 0) work_apart(work, writer.get());
  writer.reset();
  Apart apart;
  const bool in_time = read_until(reader.get(), Clock::now() + patience, apart.said);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) apart.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) apart.died = killed_by(WTERMSIG(status));
  if (!in_time) apart.died = "did not end within " + std::to_string(patience.count()) + " ms";
  if (apart.said.ends_with('\n')) apart.said.pop_back();
  return apart;
}

}  // namespace fairgv::tools::doctor
