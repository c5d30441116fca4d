#include "runtime/daemon/worker/processor_clock.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/base/processor_ticks.hpp"
#include "runtime/daemon/worker/process_stat.hpp"

namespace fairgv::daemon {
namespace {

using Duration = ProcessorClock::Duration;

std::filesystem::path folder_of(pid_t process) {
  return "/proc/" + std::to_string(process);
}

/// The time of children that have ended and that the process has waited for, their own children included.
Duration waited_for(pid_t process) {
  const auto stat = process_stat(std::to_string(process));
  return stat ? ProcessorStat::tick() * stat->waited_ticks : Duration(0);
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code gone;
  for (std::filesystem::directory_iterator thread(folder_of(process) / "task", gone), end;
       !gone && thread != end; thread.increment(gone)) {
    std::ifstream file(thread->path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

std::optional<Duration> processor_time(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::optional<Duration> ProcessorClock::read() {
  if (!processor_time(worker_)) return std::nullopt;
  Duration sum{0};
  std::vector<pid_t> processes{worker_};
  for (std::size_t i = 0; i < processes.size() && i < kMostProcesses; ++i) {
    sum += processor_time(processes[i]).value_or(Duration(0)) + waited_for(processes[i]);
    const std::vector<pid_t> children = children_of(processes[i]);
    processes.insert(processes.end(), children.begin(), children.end());
  }
  // Less than before: a process has gone, and nobody has waited for it.
  gone_ += std::max(highest_ - (sum + gone_), Duration(0));
  highest_ = sum + gone_;
  return highest_;
}

}  // namespace fairgv::daemon
