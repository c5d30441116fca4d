#include "runtime/daemon/moves/move_steps.hpp"

#include <fmt/core.h>

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
    case Step::making:
      break;
  }
  return fmt::format("its new worker has not made the session again within {:g} s",
                     seconds_of(patience_.making));
}

Result<MoveSteps::Due> MoveSteps::hear_new(const session::WorkerMessage& message) {
  if (const auto* const failed = std::get_if<session::WorkerFailed>(&message))
    return Error{"its new worker failed: " + failed->reason};
  if (step_ == Step::opening && std::holds_alternative<session::WorkerReady>(message))
    return Due::write_image;
  if (step_ == Step::making && std::holds_alternative<session::MadeAgain>(message)) return Due::commit;
  return Error{"its new worker spoke out of turn"};
}

Result<MoveSteps::Due> MoveSteps::hear_old(const session::WorkerMessage& message) {
  const auto* const refusal = std::get_if<session::CannotMove>(&message);
  old_ = refusal == nullptr ? Old::rests : Old::serves;
  if (refusal != nullptr) return Error{refusal->reason};
  return Due::make_again;
}

}  // namespace fairgv::daemon
