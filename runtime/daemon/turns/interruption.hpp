// A turn that stands still: on a device that is the host's own processors the worker that has the turn is
// stopped (SIGSTOP) while a tenant has the device that needs it for a moment, or may not wait. The commands
// of the stopped worker stay where they are, and go on afterwards; nothing drains.
//
// The time of the pause is nobody's but the other tenant's. The daemon's own clock leaves it out by moving
// the turn's moments, and the worker by TurnPromise::paused_ns (session/turn.hpp).
//
// The stopped worker may hold what the other one waits for, say a lock on the driver's cache of compiled
// kernels. So it is stopped for kLongestStop at most; then it runs beside the other until that is done.
//
// Pure logic but for the signal; not thread-safe, the arbiter owns it.
#pragma once

#include <chrono>
#include <optional>

#include "runtime/daemon/turns/turn_in_progress.hpp"

namespace fairgv::daemon {

class Interruption {
 public:
  using Time = sched::Time;
  using Duration = sched::Duration;

  static constexpr std::chrono::milliseconds kLongestStop{20};

  /// Of a turn whose worker has been stopped at `since`.
  Interruption(const TurnInProgress& turn, Time since) : turn_(turn), since_(since) {}

  const TurnInProgress& turn() const { return turn_; }
  /// One that an earlier dispatcher began; `books` are of its turn.
  static Interruption adopted(const TurnInProgress& turn, const TurnBooks& books);
  /// For the charges of a session that ends meanwhile.
  TurnInProgress& turn() { return turn_; }
  PlaceId place() const { return turn_.place; }
  /// When let_go() is due; none: the worker runs already.
  std::optional<Time> deadline() const {
    return stopped_ ? std::optional(since_ + kLongestStop) : std::nullopt;
  }
  /// Lets the worker run again, and leaves the pause out of its turn. Once.
  void let_go(const SessionPlace& place, Time now);
  /// The turn, which goes on now; let_go() was called.
  TurnInProgress resumed(Time traced_from) const;
  TurnBooks books() const;

 private:
  TurnInProgress turn_;
  Time since_;
  bool stopped_ = true;
};

}  // namespace fairgv::daemon
