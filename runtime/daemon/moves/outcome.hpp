// The outcome of a move or a park, as whoever asked for it hears of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/control/moves.hpp"
#include "runtime/daemon/tenants/ids.hpp"

namespace fairgv::daemon {

/// The outcome of a move. Devices are the host's.
struct MoveOutcome {
  SessionId session{};
  std::vector<std::uint32_t> from{};  // devices where it could run
  std::vector<std::uint32_t> to{};    // the same after the move
  std::uint64_t bytes = 0;            // of the image
  std::chrono::nanoseconds held{0};   // how long the program was held
  std::optional<Error> failure{};     // none: it has moved
  bool has_ended = false;             // the session itself
};

/// The same in an answer.
control::MovedSession moved_session(const MoveOutcome& outcome);

}  // namespace fairgv::daemon
