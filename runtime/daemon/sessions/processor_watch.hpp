// Looks at the processor time of sessions' processes, while sessions run on devices that are the host's
// processors.
//
// Used by the server's thread only. The dispatch loop, which charges this time, outlives it.
#pragma once

#include <chrono>
#include <optional>

#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/sessions/sessions.hpp"

namespace fairgv::daemon {

class ProcessorWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ProcessorWatch(DispatchLoop& dispatch) : dispatch_(dispatch) {}

  /// Processor time of the session's processes in their lives: by the control group, which misses none, where
  /// there is one. Notes the time in the session.
  static std::optional<std::chrono::nanoseconds> look(Session& session);

  /// The time at which expire() is to be called.
  std::optional<Time> deadline(const Sessions& sessions) const;
  void expire(const Sessions& sessions, Time now);

 private:
  DispatchLoop& dispatch_;
  Time next_{};
};

}  // namespace fairgv::daemon
