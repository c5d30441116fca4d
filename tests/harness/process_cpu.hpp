// The CPU time that a process has used, as Linux tells it.
#pragma once

#include <sys/types.h>

#include <optional>

namespace fairgv::harness {

/// In seconds, to the nanosecond, of all its threads, those that have ended included; nothing if there is no
/// such process. Its clock (clock_getcpuclockid(3)) may be read by anybody.
std::optional<double> cpu_seconds(pid_t pid);

}  // namespace fairgv::harness
