// The weight that the host's scheduler gives to a program: cpu.weight of its control group (cgroup-v2.rst). A
// file is missing where no limits of processors are in force for a group; then the nearest group above
// counts.
//
// - Version 1 has cpu.shares, of which 1024 is the usual number: 1024 shares are weight 100, in proportion.
// - Weights are those of one group beside its neighbours. Groups above it are not multiplied in, so weights
// of
//   programs in different parts of the tree compare as numbers only.
// - A program without such a group, or one outside of what the daemon sees, has the usual weight.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

namespace fairgv::daemon {

inline constexpr std::uint32_t kUsualHostWeight = 100;  // cgroup-v2.rst
inline constexpr std::uint32_t kMostHostWeight = 10'000;

/// Of a process now: 1 to kMostHostWeight. Reads some files of the kernel's.
std::uint32_t host_weight(pid_t process);

/// The same by the texts of this process' /proc/self/mountinfo, and of the other's /proc/PID/cgroup.
std::uint32_t host_weight(std::string_view mounts, std::string_view groups);

}  // namespace fairgv::daemon
