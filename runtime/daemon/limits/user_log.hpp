// The lines of the daemon's log that users cause: settings, refusals, sessions that begin and end. They go
// through here, and each user has a budget for them (log_budget.hpp).
//
// Text from users in a line is made harmless where all lines are written (log_format.hpp). Used by the
// server's thread only.
#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/limits/log_budget.hpp"

namespace fairgv::daemon {

class UserLog {
 public:
  using Time = LogBudget::Time;

  template <class... Arguments>
  void info(const Account& by, spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) {
    if (may_write(spdlog::level::info, by)) spdlog::info(format, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void warn(const Account& by, spdlog::format_string_t<Arguments...> format, Arguments&&... arguments) {
    if (may_write(spdlog::level::warn, by)) spdlog::warn(format, std::forward<Arguments>(arguments)...);
  }

  /// When expire() wants to be called.
  std::optional<Time> deadline() const { return budget_.deadline(); }
  /// Says how many lines were left out.
  void expire(Time now);

 private:
  /// Nobody pays for a line that the log's level leaves out.
  bool may_write(spdlog::level::level_enum level, const Account& by) {
    return spdlog::should_log(level) && budget_.take(by, std::chrono::steady_clock::now());
  }

  LogBudget budget_;
};

}  // namespace fairgv::daemon
