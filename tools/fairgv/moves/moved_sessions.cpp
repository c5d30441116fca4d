#include "tools/fairgv/moves/moved_sessions.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "runtime/base/memory_size.hpp"
#include "runtime/control/moves.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"

namespace fairgv::tools {
namespace {

std::string line_of(const control::MovedSession& move) {
  const std::string image = readable_bytes(move.bytes);
  if (move.to.empty()) {
    return fmt::format("session {}: parked, image {}{}", move.session, image,
                       move.reason.empty() ? "" : " (" + move.reason + ")");
  }
  const std::string from = fmt::format("{}", fmt::join(move.from, ","));
  const std::string to = fmt::format("{}", fmt::join(move.to, ","));
  return fmt::format("session {}: {}, image {}, held for {:.1f} ms", move.session,
                     from == to ? fmt::format("a new worker on device {}", to)
                                : fmt::format("moved from device {} to {}", from, to),
                     image, move.held_ms);
}

}  // namespace

int ask_and_print_moves(const std::string& name, const control::ControlRequest& request,
                        const std::string& socket, bool json) {
  auto control = Control::connect(socket);
  if (!control) return fail(name, control.error().message);
  const auto answer = control->ask(request);
  if (!answer) return fail(name, answer.error().message);
  const auto report = control::parse_move_report(answer.value());
  if (!report) return fail(name, report.error().message);
  if (json) fmt::print("{}\n", nlohmann::json::parse(answer.value()).dump(2));
  int status = 0;
  for (const control::MovedSession& move : report->moves) {
    if (!move.error.empty()) {
      status = fail(name, move.error);
    } else if (!json) {
      fmt::print("{}\n", line_of(move));
    }
  }
  return status;
}

}  // namespace fairgv::tools
