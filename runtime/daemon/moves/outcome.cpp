#include "runtime/daemon/moves/outcome.hpp"

#include <string>

namespace fairgv::daemon {

control::MovedSession moved_session(const MoveOutcome& outcome) {
  const double held_ms = std::chrono::duration<double, std::milli>(outcome.held).count();
  return {.session = outcome.session.value,
          .from = outcome.from,
          .to = outcome.to,
          .bytes = outcome.bytes,
          .held_ms = held_ms,
          .error = outcome.failure ? outcome.failure->message : std::string()};
}

}  // namespace fairgv::daemon
