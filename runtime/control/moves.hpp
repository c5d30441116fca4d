// The answer to `migrate` on a control connection (control/protocol.hpp): what has come of each session's
// move.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::control {

/// Devices are the host's, as `ps` shows them.
struct MovedSession {
  std::uint32_t session = 0;
  std::vector<std::uint32_t> from{};  // devices where it could run
  std::vector<std::uint32_t> to{};    // the same after the move; empty: it has not moved
  std::uint64_t bytes = 0;            // of the session's image
  double held_ms = 0;                 // how long the program was held
  std::string error{};                // why it has not moved, as one line; empty: it has
};

struct MoveReport {
  std::vector<MovedSession> moves;  // in the order in which they were made
};

std::string to_text(const MoveReport& report);
/// The Error of a refusal, too.
Result<MoveReport> parse_move_report(std::string_view text);

}  // namespace fairgv::control
