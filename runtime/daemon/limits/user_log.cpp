#include "runtime/daemon/limits/user_log.hpp"

namespace fairgv::daemon {

void UserLog::expire(Time now) {
  for (const LogBudget::LeftOut& left : budget_.take_left_out(now)) {
    spdlog::warn("left out {} lines about {}: more than the log has room for", left.lines,
                 left.owner ? "user " + std::to_string(*left.owner) : "several users");
  }
}

}  // namespace fairgv::daemon
