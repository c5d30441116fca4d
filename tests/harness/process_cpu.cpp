#include "tests/harness/process_cpu.hpp"

#include <ctime>

namespace fairgv::harness {

std::optional<double> cpu_seconds(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  // To the call, 0 is the caller itself.
  if (pid <= 0 || ::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
    return std::nullopt;
  }
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace fairgv::harness
