#include "tests/harness/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "runtime/base/exec_pointers.hpp"

namespace fairgv::harness {
namespace {

[[noreturn]] void become(const CommandLine& command, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // a benchmark that is interrupted leaves nothing running
  ::dup2(output, STDOUT_FILENO);
  for (const auto& [name, value] : command.environment) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
  const std::vector<char*> arguments = exec_pointers(command.arguments);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

}  // namespace

Result<Child> Child::start(const CommandLine& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe");
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("fork");
  if (pid == 0) become(command, write_end.get());
  return Child(pid, std::move(read_end));
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::move(other.output_)),
      partial_(std::move(other.partial_)),
      ended_(other.ended_) {}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

std::vector<std::string> Child::read_lines() {
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t count = ::read(output_.get(), chunk.data(), chunk.size());
    if (count > 0) {
      partial_.append(chunk.data(), static_cast<std::size_t>(count));
      continue;
    }
    ended_ = ended_ || count == 0;
    break;
  }
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(partial_.substr(begin, end - begin));
  }
  partial_.erase(0, begin);
  return lines;
}

int Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Finished finish(Child child) {
  Finished finished;
  while (!child.ended()) {
    pollfd readable{child.output(), POLLIN, 0};
    ::poll(&readable, 1, -1);
    for (std::string& line : child.read_lines()) finished.lines.push_back(std::move(line));
  }
  finished.status = child.wait();
  return finished;
}

Result<Finished> run(const CommandLine& command) {
  FAIRGV_TRY(child, Child::start(command));
  return finish(std::move(child).value());
}

}  // namespace fairgv::harness
