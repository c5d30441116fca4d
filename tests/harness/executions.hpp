// The times when a device ran kernels, by the driver's own event timestamps, and their sum.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::harness {

/// One kernel, in nanoseconds of the driver's clock (CL_PROFILING_COMMAND_START and _END).
struct Execution {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// Reads the file that the workloads' --events writes: a line "START END" for each launch. An Error if a line
/// has another form, or ends before it starts.
Result<std::vector<Execution>> read_executions(const std::string& file);

/// The sum of all END - START.
std::chrono::nanoseconds summed(const std::vector<Execution>& executions);

/// The time for which the device was with these kernels: from the start of the first to the end of the last,
/// without the gaps of `gap` or more. A shorter one, from the end of a kernel to the start of the next, is
/// the driver's own way from launch to launch, which nobody else could use; a longer one may be another
/// tenant's turn. Time with several kernels at once counts once.
std::chrono::nanoseconds spanned(std::vector<Execution> executions, std::chrono::nanoseconds gap);

/// The part of the time from the start of the first to the end of the last in which a kernel ran; 0 of none.
double part_in_use(const std::vector<Execution>& executions);

}  // namespace fairgv::harness
