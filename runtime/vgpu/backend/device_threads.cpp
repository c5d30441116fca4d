#include "runtime/vgpu/backend/device_threads.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

namespace fairgv::vgpu {

std::vector<pid_t> own_threads() {
  std::vector<pid_t> threads;
  std::error_code error;
  std::filesystem::directory_iterator tasks("/proc/self/task", error);
  for (; !error && tasks != std::filesystem::directory_iterator(); tasks.increment(error)) {
    threads.push_back(static_cast<pid_t>(std::stol(tasks->path().filename())));
  }
  return threads;
}

bool give_each_a_core(std::span<const pid_t> threads, const cpu_set_t& cores) {
  if (threads.empty() || threads.size() != static_cast<std::size_t>(CPU_COUNT(&cores))) return false;
  std::size_t next = 0;
  return std::all_of(threads.begin(), threads.end(), [&](pid_t thread) {
    while (!CPU_ISSET(next, &cores)) ++next;
    cpu_set_t its;
    CPU_ZERO(&its);
    CPU_SET(next++, &its);
    return ::sched_setaffinity(thread, sizeof(its), &its) == 0;
  });
}

void AwayFromCores::leave() {
  for (const pid_t thread : threads_) {
    cpu_set_t cores;
    // A thread that has ended, or a core that is no longer there: it stays where it is.
    if (::sched_getaffinity(thread, sizeof(cores), &cores) != 0) continue;
    if (::sched_setaffinity(thread, sizeof(others_), &others_) == 0) moved_.push_back({thread, cores});
  }
}

void AwayFromCores::come_back() {
  for (const Moved& moved : moved_) ::sched_setaffinity(moved.thread, sizeof(moved.cores), &moved.cores);
  moved_.clear();
}

}  // namespace fairgv::vgpu
