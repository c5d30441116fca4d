// The system's count of its processors' time (/proc/stat, proc(5)), in ticks of 10 ms mostly: too coarse
// for one turn, good enough on the long run.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "runtime/base/handle.hpp"

namespace fairgv {

/// Of some processors together, since the system was started.
struct ProcessorTicks {
  std::uint64_t idle = 0;   // with nothing to run, or waiting for input and output
  std::uint64_t steal = 0;  // a virtual machine's host ran something else
};

/// Reads a text in the form of /proc/stat. Zeros for missing numbers.
ProcessorTicks processor_ticks(std::string_view stat, const cpu_set_t& processors);

/// The file, opened once. Reading has the system write a line per processor.
class ProcessorStat {
 public:
  explicit ProcessorStat(const char* path = "/proc/stat");

  /// Nothing is counted where there is no such file.
  bool counts() const { return static_cast<bool>(file_); }
  ProcessorTicks read(const cpu_set_t& processors) const;
  static std::chrono::nanoseconds tick();

 private:
  UniqueFd file_;
};

}  // namespace fairgv
