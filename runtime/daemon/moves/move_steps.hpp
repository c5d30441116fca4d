// The steps of one move of a session from its worker to another, and what each message of the two means:
//
//   opening ──new worker: ready──▶ copying ──old worker: copied ahead──▶ preparing ──new worker: made
//   ahead──▶
//      (copying again, if it pays, else:)
//   writing ──old worker: image written──▶ making ──new worker: made again──▶ (commit)
//
//   refused, failed, too late in any of them ──▶ (the old worker goes on)
//
// The old worker serves the session until `writing`; from there on the program waits. So what the session has
// is copied and made while it runs, contents again and again as long as less is left each time; what is
// written between is copied at last (pre-copy, as virtual machines are moved). A worker that takes too long
// to copy ahead, because its tenant has no turn, is told to write what there is. Over a link that is
// simulated, each image is `sending` for a time before the new worker is told to make it.
//
// Pure logic; time is an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

class MoveSteps {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  enum class Step { opening, copying, preparing, writing, making, sending };
  /// The old worker: it serves, was told to write and has not answered, or rests and goes on when it is told.
  enum class Old { serves, writes, rests };
  /// Copies ahead, at most; and the contents that one more is for, at least: they take milliseconds.
  static constexpr int kMostCopies = 6;
  static constexpr std::uint64_t kWorthCopying = std::uint64_t{4} << 20;
  /// How long each step may take.
  struct Patience {
    Duration opening;
    Duration copying;
    Duration writing;
    Duration making;
  };
  /// The order that is due after a message.
  enum class Due { copy_ahead, make_ahead, write_image, make_again, commit, nothing };

  /// `has_image`: the session is parked, and no old worker has to write its image.
  MoveSteps(const Patience& patience, Time now, bool has_image = false)
      : patience_(patience), has_image_(has_image), until_(now + patience.opening), held_since_(now) {}

  Step step() const { return step_; }
  Time deadline() const { return until_; }
  /// Why the move fails at its deadline.
  std::string too_late() const;

  /// A message of the new worker, or of the old one about the move. An Error says why the move fails.
  Result<Due> hear_new(const session::WorkerMessage& message);
  Result<Due> hear_old(const session::WorkerMessage& message);

  /// At the deadline: a step that may be left out has taken too long, and the image is due.
  bool goes_on_without() const { return step_ == Step::copying; }

  /// The image, a copy ahead or not, arrives then.
  void begin_sending(bool ahead, Time arrival) {
    step_ = Step::sending;
    ahead_ = ahead;
    until_ = arrival;
  }
  /// Whether the image that is sending is a copy ahead.
  bool sends_ahead() const { return step_ == Step::sending && ahead_; }

  /// The old worker is told to copy ahead, by an order of this number, and the new one to make that; any
  /// number of times. Then the old one is told to write, and the new one to make again.
  void begin_copying(std::uint64_t number, Time now) {
    ++copies_;
    order_ = number;
    enter(Step::copying, patience_.copying, now);
  }
  void begin_preparing(Time now) { enter(Step::preparing, patience_.making, now); }
  void begin_writing(Time now) {
    old_ = Old::writes;
    enter(Step::writing, patience_.writing, held_since_ = now);
  }
  void begin_making(Time now) { enter(Step::making, patience_.making, now); }

  /// The number of the latest copy ahead that the new worker has made; 0: none.
  std::uint64_t copied() const { return copied_; }

  Old old() const { return old_; }
  /// How long the program has waited, once the old worker was told to write; of a parked session, since its
  /// end was asked for.
  Duration held(Time now) const { return now - held_since_; }

 private:
  void enter(Step step, Duration patience, Time now) {
    step_ = step;
    until_ = now + patience;
  }

  bool pays_to_copy_again() const;

  const Patience patience_;
  const bool has_image_;
  Step step_ = Step::opening;
  Old old_ = Old::serves;
  Time until_;
  Time held_since_;
  bool ahead_ = false;        // what was sent last
  int copies_ = 0;            // ahead
  std::uint64_t order_ = 0;   // of the latest
  std::uint64_t copied_ = 0;  // of the latest that the new worker has made
  std::uint64_t left_ = 0;    // of contents, after the latest
  std::uint64_t left_before_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace fairgv::daemon
