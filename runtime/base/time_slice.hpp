// How long the system lets a thread run before others on the same core have their turn (sched_setattr(2)).
#pragma once

#include <chrono>

namespace fairgv {

/// For threads that many others wait for and that never run long: a thread that wakes with so short a slice
/// goes before threads with the system's own, a few milliseconds, and so runs at once even where every core
/// is busy.
inline constexpr std::chrono::microseconds kPromptSlice{100};

/// Sets the slice of the calling thread, and of threads that it starts from now on. Its share of the
/// processors stays the same, and so do its policy and nice value. False if nothing was changed: the policy
/// is one of real time, or the call is refused. Linux 6.12 and later heed it, if it is between 0.1 and 100
/// ms; earlier ones do not.
bool set_time_slice(std::chrono::nanoseconds slice);

/// The calling thread's slice. Zero where the system does not tell (Linux before 6.12).
std::chrono::nanoseconds time_slice();

}  // namespace fairgv
