// Looks at the weights that the host's processors give to programs (worker/host_weight.hpp), while the policy
// of any device goes by them. A tenant has the greatest weight of its sessions' programs.
//
// A program is looked at before its session begins, and again about every second, at most kMostLooks of them
// at a time: with more, each less often. Used by the server's thread only. The constructor's arguments
// outlive it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class HostWeightWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kLook{1};
  static constexpr std::size_t kMostLooks = 64;

  HostWeightWatch(DispatchLoop& dispatch, Tenancies& tenancies)
      : dispatch_(dispatch), tenancies_(tenancies) {}

  /// A session is about to get its first turn.
  void begin(const Sessions& sessions, Session& session);

  /// The time at which expire() is to be called.
  std::optional<Time> deadline(const Sessions& sessions) const;
  void expire(const Sessions& sessions, Time now);

 private:
  void look(const Sessions& sessions, Session& session);

  DispatchLoop& dispatch_;
  Tenancies& tenancies_;
  SessionId last_{};  // looked at last
  Time next_{};
};

}  // namespace fairgv::daemon
