// The CPU time that a process has used, as Linux tells it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace fairgv::harness {

/// User and system time of all the process's threads, in clock ticks (sysconf(_SC_CLK_TCK)), from the text of
/// /proc/PID/stat (proc(5), fields 14 and 15). Nothing if the text is no such line.
std::optional<std::uint64_t> cpu_ticks(const std::string& stat);

/// The same in seconds, of a process that lives; nothing if it is gone. Steps of a tick, 10 ms as a rule.
std::optional<double> cpu_seconds(pid_t pid);

}  // namespace fairgv::harness
