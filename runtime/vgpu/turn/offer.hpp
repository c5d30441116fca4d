// The next command that a device's issuer offers to the turn, and the turn's answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "runtime/session/turn_wait.hpp"
#include "sched/command_history.hpp"

namespace fairgv::vgpu {

using TimePoint = std::chrono::steady_clock::time_point;
using sched::Duration;

/// By CLOCK_MONOTONIC, as shared pages and traces have times.
inline std::uint64_t nanoseconds(TimePoint at) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(at.time_since_epoch()).count());
}

struct Offer {
  Offer(sched::CommandKind of_kind, bool is_part = false,
        std::optional<TimePoint> may_go_ahead_from = std::nullopt)
      : kind(of_kind), part(is_part), ahead_from(may_go_ahead_from) {}
  sched::CommandKind kind;
  bool part;                  // of a command that is cut: nothing else is in flight with it
  bool lacks_memory = false;  // not to be issued before memory that it uses is on the device
  /// In lone turns, the time from which it may be issued although the part ahead of it has not ended.
  std::optional<TimePoint> ahead_from;
};

/// The command to issue next, or nothing if there is none.
using Next = std::optional<Offer>;

/// How many commands may be issued now, as far as the turn admits them; with 0, why not the next one.
struct Permit {
  std::uint64_t count = 0;
  session::TurnWait why = session::TurnWait::nothing;
};

}  // namespace fairgv::vgpu
