// The kernel's account of a process in /proc/PID/stat (proc_pid_stat(5)).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairgv::daemon {

struct ProcessStat {
  bool runs = false;  // a thread of it, if not the first
  pid_t parent = 0;
  pid_t session = 0;
  std::int64_t waited_ticks =
      0;  // processor time of children that have ended and were waited for, with theirs
};

/// Of a process by its number, as text; nothing if there is none.
std::optional<ProcessStat> process_stat(const std::string& pid);
/// Nothing for a text of another form. A process chooses its name, which is a part of it.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

}  // namespace fairgv::daemon
