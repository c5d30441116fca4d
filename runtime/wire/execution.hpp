// The status and times of a command, in the form that both sides of a session use.
#pragma once

#include <cstdint>

namespace fairgv::wire {

/// Execution statuses as OpenCL numbers them (OpenCL 3.0, 5.11), and errors that stand in their place.
inline constexpr std::int32_t kComplete = 0;
inline constexpr std::int32_t kRunning = 1;
inline constexpr std::int32_t kSubmitted = 2;
inline constexpr std::int32_t kQueued = 3;
inline constexpr std::int32_t kDeviceNotAvailable = -2;  // also: the worker is lost
inline constexpr std::int32_t kOutOfResources = -5;
inline constexpr std::int32_t kWaitListFailed = -14;

/// When a command was queued, submitted, started, ended and completed: nanoseconds of the device's clock.
struct CommandTimes {
  std::uint64_t queued = 0, submitted = 0, started = 0, ended = 0, completed = 0;
};

}  // namespace fairgv::wire
