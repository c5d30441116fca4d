#include "runtime/daemon/moves/move_steps.hpp"

#include <fmt/core.h>

#include <utility>
#include <variant>

namespace fairgv::daemon {
namespace {

double seconds_of(MoveSteps::Duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::string MoveSteps::too_late() const {
  switch (step_) {
    case Step::opening:
      return fmt::format("its new worker was not ready within {:g} s: the device's driver may hang",
                         seconds_of(patience_.opening));
    case Step::writing:
      return fmt::format(
          "its worker has not come to rest and written its image within {:g} s (move_patience_s): a command "
          "of "
          "it may run for long",
          seconds_of(patience_.writing));
    case Step::copying:
    case Step::preparing:
    case Step::making:
    case Step::sending:
      break;
  }
  return fmt::format("its new worker has not made the session again within {:g} s",
                     seconds_of(patience_.making));
}

/// Each copy is to leave clearly less than the one before: a program that writes faster than that gains
/// nothing by another.
bool MoveSteps::pays_to_copy_again() const {
  return copies_ < kMostCopies && left_ >= kWorthCopying && left_ <= left_before_ / 4 * 3;
}

Result<MoveSteps::Due> MoveSteps::hear_new(const session::WorkerMessage& message) {
  if (const auto* const failed = std::get_if<session::WorkerFailed>(&message))
    return Error{"its new worker failed: " + failed->reason};
  if (step_ == Step::opening && std::holds_alternative<session::WorkerReady>(message))
    return has_image_ ? Due::make_again : Due::copy_ahead;
  if (step_ == Step::preparing && std::holds_alternative<session::MadeAhead>(message)) {
    copied_ = order_;
    return pays_to_copy_again() ? Due::copy_ahead : Due::write_image;
  }
  if (step_ == Step::making && std::holds_alternative<session::MadeAgain>(message)) return Due::commit;
  return Error{"its new worker spoke out of turn"};
}

Result<MoveSteps::Due> MoveSteps::hear_old(const session::WorkerMessage& message) {
  if (const auto* const copied = std::get_if<session::CopiedAhead>(&message)) {
    // It may be late: it has crossed the order to write, or answers an earlier move's.
    if (step_ != Step::copying || copied->number != order_) return Due::nothing;
    left_before_ = std::exchange(left_, copied->left);
    if (copies_ == 1) left_before_ = std::numeric_limits<std::uint64_t>::max();
    return Due::make_ahead;
  }
  const auto* const refusal = std::get_if<session::CannotMove>(&message);
  old_ = refusal == nullptr ? Old::rests : Old::serves;
  if (refusal != nullptr) return Error{refusal->reason};
  if (step_ != Step::writing) return Error{"its worker spoke out of turn"};
  return Due::make_again;
}

}  // namespace fairgv::daemon
