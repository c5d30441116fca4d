// One hostile session: a process that is a tenant like any other, computes on the device, and meanwhile
// scribbles over the memory that it shares, or runs kernels that play their worker's part (deeds.hpp). It may
// crash, hang, or be ended, and its parent begins the next.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "tests/hostile/deeds.hpp"

namespace fairgv::hostile {

struct SessionSettings {
  std::uint32_t iterations = 0;                    // of the loop in each launch: how long one takes
  std::optional<std::uint64_t> scribble_by{};      // the seed; none: it does not scribble
  const Deed* deed = nullptr;                      // instead, where the device is the host's processors
  std::chrono::milliseconds deed_takes{};          // each of its kernels
  std::optional<std::chrono::nanoseconds> life{};  // after which it ends by itself, in the middle of its work
};

/// The processes' report to their parent.
struct Progress {
  std::atomic<std::uint64_t> rounds{0};    // of scribbling
  std::atomic<std::uint64_t> launches{0};  // that ended
  /// When the latest session was at work, by the steady clock; 0: it is not yet.
  std::atomic<std::int64_t> at_work_since_ns{0};
};

/// Runs until something ends it, or the session is lost. The exit status: 0, or 1 if it could not begin.
int run_session(const SessionSettings& settings, Progress& progress);

}  // namespace fairgv::hostile
