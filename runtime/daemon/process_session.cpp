#include "runtime/daemon/process_session.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "runtime/ring/handle.hpp"

namespace fairgv::daemon {
namespace {

std::optional<ProcessStat> stat_of(const std::string& pid) {
  const ring::UniqueFd file(::open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t length = file ? ::read(file.get(), text.data(), text.size()) : -1;
  if (length <= 0) return std::nullopt;
  return parse_process_stat({text.data(), static_cast<std::size_t>(length)});
}

/// True if the process is of the session and may still run.
bool end_if_of(pid_t leader, const std::string& name) {
  pid_t pid = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc() || rest != name.data() + name.size() || pid == leader) return false;
  if (const auto seen = stat_of(name); !seen || seen->session != leader) return false;
  // Held before it is asked once more: then it is this process that is killed, whoever gets its number.
  const ring::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const auto stat = stat_of(name);
  if (!process || !stat || stat->session != leader) return false;
  ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  if (stat->parent == ::getpid() && ::waitpid(pid, nullptr, WNOHANG) == pid) return false;
  return stat->runs;  // a zombie is its parent's affair
}

}  // namespace

void receive_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool end_process_session(pid_t leader) {
  ::kill(-leader, SIGKILL);
  bool none = true;
  std::error_code error;
  std::filesystem::directory_iterator processes("/proc", error);
  for (; !error && processes != std::filesystem::directory_iterator(); processes.increment(error)) {
    if (end_if_of(leader, processes->path().filename())) none = false;
  }
  return none && !error;
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // proc_pid_stat(5): number, (name), state, parent, group, session, 13 others, threads
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || text.size() < name_end + 4) return std::nullopt;
  const char state = text[name_end + 2];
  const char* at = text.data() + name_end + 3;
  const char* const end = text.data() + text.size();
  std::array<std::int64_t, 17> numbers{};
  for (std::int64_t& number : numbers) {
    if (at == end || *at != ' ') return std::nullopt;
    const auto [rest, error] = std::from_chars(at + 1, end, number);
    if (error != std::errc()) return std::nullopt;
    at = rest;
  }
  const bool ended = state == 'Z' || state == 'X';
  return ProcessStat{.runs = !ended || numbers[16] > 1,
                     .parent = static_cast<pid_t>(numbers[0]),
                     .session = static_cast<pid_t>(numbers[2])};
}

}  // namespace fairgv::daemon
