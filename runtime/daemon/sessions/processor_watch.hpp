// Looks, while sessions run on devices that are the host's processors, at what their processes use of those.
//
// Used by the server's thread only. The dispatch loop, which charges it, outlives it.
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

  /// Processor time of its processes in their lives: of the control group, which misses none, where there is
  /// one. Notes it in the session.
  static std::optional<std::chrono::nanoseconds> look(Session& session);

  /// When expire() wants to be called.
  std::optional<Time> deadline(const Sessions& sessions) const;
  void expire(const Sessions& sessions, Time now);

 private:
  DispatchLoop& dispatch_;
  Time next_{};
};

}  // namespace fairgv::daemon
