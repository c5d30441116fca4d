// The answer to `migrate`, `park`, `drain` and `undrain` on a control connection (control/protocol.hpp): what
// has come of each session.
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
  std::vector<std::uint32_t> to{};    // the same after the move; empty: it has not moved, or is parked
  std::uint64_t bytes = 0;            // of the session's image
  double held_ms = 0;                 // how long the program was held
  std::string reason{};  // why it was parked where it was to move, as one line; empty: it was not
  std::string error{};   // why it has not moved, or is not parked, as one line; empty: it has, or is
};

struct MoveReport {
  std::vector<MovedSession> moves;  // in the order in which they were made
};

std::string to_text(const MoveReport& report);
/// The Error of a refusal, too.
Result<MoveReport> parse_move_report(std::string_view text);

}  // namespace fairgv::control
