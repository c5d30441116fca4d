// The table's part in sessions that people move, park and let go on.
#include <utility>

#include "runtime/daemon/session_table.hpp"

namespace fairgv::daemon {

Result<void> SessionTable::move(SessionId id, std::optional<std::uint32_t> to, Moves::Done done) {
  return moves_.begin(*sessions_.find(id), to, std::move(done));
}

Result<void> SessionTable::park(SessionId id, const Parking& how, Moves::Done done) {
  return moves_.park(*sessions_.find(id), how, std::move(done));
}

Result<void> SessionTable::unpark(SessionId id, Moves::Done done) {
  return moves_.unpark(*sessions_.find(id), std::move(done));
}

void SessionTable::refuse_moves(const std::string& reason) {
  moves_.refuse(reason);
  if (reason.empty()) drains_.go_on();
}

}  // namespace fairgv::daemon
