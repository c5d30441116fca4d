// The steps of one move of a session from its worker to another, and what each message of the two means:
//
//   opening ──new worker: ready──▶ writing ──old worker: image written──▶ making ──new worker: made──▶
//   (commit)
//      └────────────────┬─────────────────────────────┬──────────────────────┘
//                       └── refused, failed, too late ─┴─▶ (the old worker goes on)
//
// The old worker serves the session while the new one opens its drivers. From `writing` on the program waits.
//
// Pure logic; time is an argument.
#pragma once

#include <chrono>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

class MoveSteps {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  enum class Step { opening, writing, making };
  /// The old worker: it serves, was told to write and has not answered, or rests and goes on when it is told.
  enum class Old { serves, writes, rests };
  /// How long each step may take.
  struct Patience {
    Duration opening;
    Duration writing;
    Duration making;
  };
  /// The order that is due after a message.
  enum class Due { write_image, make_again, commit };

  MoveSteps(const Patience& patience, Time now) : patience_(patience), until_(now + patience.opening) {}

  Step step() const { return step_; }
  Time deadline() const { return until_; }
  /// Why the move fails at its deadline.
  std::string too_late() const;

  /// A message of the new worker, or of the old one about the move. An Error says why the move fails.
  Result<Due> hear_new(const session::WorkerMessage& message);
  Result<Due> hear_old(const session::WorkerMessage& message);

  /// The old worker is told to write, and the new one to make again.
  void begin_writing(Time now) {
    old_ = Old::writes;
    enter(Step::writing, patience_.writing, held_since_ = now);
  }
  void begin_making(Time now) { enter(Step::making, patience_.making, now); }

  Old old() const { return old_; }
  /// How long the program has waited, once the old worker was told to write.
  Duration held(Time now) const { return now - held_since_; }

 private:
  void enter(Step step, Duration patience, Time now) {
    step_ = step;
    until_ = now + patience;
  }

  const Patience patience_;
  Step step_ = Step::opening;
  Old old_ = Old::serves;
  Time until_;
  Time held_since_{};
};

}  // namespace fairgv::daemon
