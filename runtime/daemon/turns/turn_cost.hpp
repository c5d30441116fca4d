// The least cost of a turn, by the daemon's own clock, whatever its worker reports.
//
// A worker measures its own use of the device. On a CPU device its tenant's code runs in the same process and
// can write anything into the turn page, so the report alone must not decide the cost of a turn. The daemon
// knows for how long the turn kept the device from others. That time exceeds an honest report only by the
// ways into and out of a turn: the worker wakes up after the grant and waits in vain for more to do at the
// end (at most vgpu::Linger::kLongest), and the dispatcher wakes up. These times are left to the report; any
// time beyond them is charged.
//
// On a CPU device other processes may take the processors from a turn. That is not its tenant's use, and the
// worker leaves it out of its report (vgpu/turn/stolen_time.hpp). The daemon excuses this time as far as
// neither the worker's process nor its program has run, by the kernel's clocks, and up to half of the turn.
// Whether other processes have really run meanwhile shows in the long run (excused_time.hpp).
//
// Pure logic.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "sched/types.hpp"

namespace fairgv::daemon {

/// The most time of a turn that is left to its worker's report, and the largest part of a short turn. Over
/// the programs of `fairgv bench fair3` and `accounting`, on a machine that others keep busy, the reports of
/// honest workers lie below the least cost by less than 0.2 % in all.
inline constexpr std::chrono::microseconds kHandOver{600};
inline constexpr int kHandOverPart = 8;

/// The least that is charged for keeping the device from others for `held`.
constexpr sched::Duration least_cost(sched::Duration held) {
  const sched::Duration positive = std::max(held, sched::Duration(0));
  return positive - std::min<sched::Duration>(positive / kHandOverPart, kHandOver);
}

/// The part of a turn that is charged though its worker's process has not run: keeping the device from others
/// without using it costs that much.
inline constexpr int kHeldPart = 2;

/// The least cost on a device of so many of the host's processors (0: it has its own), where the worker's
/// process and its program ran for `ran` in that time, if that is known.
constexpr sched::Duration least_cost(sched::Duration held, unsigned processors,
                                     std::optional<sched::Duration> ran) {
  const sched::Duration least = least_cost(held);
  if (processors == 0 || !ran) return least;
  return std::min(least, std::max<sched::Duration>(held / kHeldPart, *ran / processors));
}

}  // namespace fairgv::daemon
