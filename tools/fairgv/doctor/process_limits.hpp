// The limits of a process, as /proc/PID/limits shows them (proc_pid_limits(5)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/fairgv/doctor/machine.hpp"

namespace fairgv::tools::doctor {

inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

struct ProcessLimit {
  std::uint64_t soft = kUnlimited;
  std::uint64_t hard = kUnlimited;
};

/// `process` is a folder of /proc, `name` as the file has it: "Max open files". None if it cannot be read.
std::optional<ProcessLimit> process_limit(const Machine& machine, const std::string& process,
                                          const std::string& name);

}  // namespace fairgv::tools::doctor
