// Parked sessions that go on by themselves as soon as their programs need their devices: there are calls in
// the ring that nobody takes, or threads that wait for an answer or the end of a command.
//
// A program makes no system call for a call to a worker that is awake, so nothing tells the daemon of it: it
// looks, and only while there are such sessions. A session that cannot go on, since its memory is taken,
// waits until there is room for it; if its worker cannot be started, it is tried again, less and less often.
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/moves/moves.hpp"
#include "runtime/daemon/sessions/device_keeper.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class Wakes {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kLook{50};
  static constexpr std::chrono::seconds kFirstRetry{1};
  static constexpr std::chrono::seconds kLastRetry{60};

  struct Needs {
    const Sessions& sessions;
    Moves& moves;
    DeviceKeeper& devices;
    const Tenancies& tenancies;
    UserLog& log;
  };
  explicit Wakes(const Needs& needs) : needs_(needs) {}
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;

  /// The time at which expire() is to be called.
  std::optional<Time> deadline() const;
  void expire(Time now);

 private:
  struct Sleeper {
    std::optional<Time> not_before{};
    std::chrono::seconds wait = kFirstRetry;
    bool short_of_memory = false;  // the log has it
  };
  static bool wakes(const Session& session) {
    return session.stage == Session::Stage::running && session.parked && session.parked->how.wakes;
  }
  void look_at(Session& session, Time now);
  bool has_room(const Session& session) const;
  void put_off(SessionId id, Time now);

  const Needs needs_;
  std::map<SessionId, Sleeper> sleepers_;
  Time next_look_{};
};

}  // namespace fairgv::daemon
