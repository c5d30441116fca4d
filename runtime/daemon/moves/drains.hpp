// Devices that are drained: their sessions go to others or are parked, and no session begins there until that
// is ended. Then those that were parked for it go on, and those that were moved for it come back.
//
// The sessions leave one after another. Each goes to the best of the other devices that its tenant may use
// and that its worker sees; if that one does not take it, to the next, and if none does, it is parked. A
// session that can do neither stays, and the answer says why. A daemon after this one goes on with it.
// Devices that fail are emptied in the same way (failures.hpp).
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/control/moves.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/moves/moves.hpp"
#include "runtime/daemon/sessions/device_keeper.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class Drains {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Gives the peer with this key its answer; the peer may be gone by now.
  using Answer = std::function<void(std::uint64_t key, const std::string& text)>;

  struct Needs {
    const Config& config;
    const Sessions& sessions;
    Moves& moves;
    DeviceKeeper& devices;
    Tenancies& tenancies;
    UserLog& log;
    Answer answer;
    /// A session stays on a device that has failed.
    std::function<void(Session& session, std::uint32_t device)> stays;
  };
  explicit Drains(const Needs& needs) : needs_(needs) {}
  Drains(const Drains&) = delete;
  Drains& operator=(const Drains&) = delete;

  /// Drains one of the host's devices, or ends that, for an administrator: the answer (control::MoveReport),
  /// where there is one at once; else the peer has it when the last session has left or come back.
  Result<std::optional<std::string>> begin(std::uint32_t device, const Account& by, std::uint64_t key);
  Result<std::optional<std::string>> end(std::uint32_t device, const Account& by, std::uint64_t key);
  /// Goes on with this device, which is drained; nobody waits for an answer.
  void evacuate(std::uint32_t device);
  /// Whether sessions still leave the device, or come back to it.
  bool is_at_work(std::uint32_t device) const { return tasks_.contains(device); }
  /// Goes on with the devices that are drained and still have sessions: those of an earlier daemon, or of
  /// this one, after it could not be replaced.
  void go_on();

  /// The time at which expire() is to be called.
  std::optional<Time> deadline() const;
  void expire(Time now);

 private:
  /// The sessions that leave a device, or come back to it.
  struct Task {
    bool comes_back = false;
    Account by{};
    std::optional<std::uint64_t> key{};  // the peer's
    std::deque<SessionId> left{};
    std::deque<std::uint32_t> targets{};  // of the session that leaves now: places that it has not tried
    std::vector<Evacuation> moved{};      // its devices where they are to lie
    std::optional<Error> refusal{};       // why the latest target did not take it
    std::optional<Time> again{};          // other moves are waited for
    control::MoveReport report{};
  };

  Result<void> may_begin(std::uint32_t device) const;
  std::optional<std::string> start(std::uint32_t device, Task task);
  std::optional<std::string> advance(std::uint32_t device);
  void advance_and_answer(std::uint32_t device);
  bool begin_next(std::uint32_t device, Task& task, Session& session);
  bool try_targets(std::uint32_t device, Task& task, Session& session);
  bool park(std::uint32_t device, Task& task, Session& session);
  bool bring_back(std::uint32_t device, Task& task, Session& session);
  std::deque<std::uint32_t> targets_of(const Session& session, std::uint32_t device);
  bool is_concerned(const Session& session, std::uint32_t device, bool comes_back) const;
  void on_done(std::uint32_t device, const MoveOutcome& outcome);
  void note(std::uint32_t device, Task& task, const MoveOutcome& outcome);

  const Needs needs_;
  std::map<std::uint32_t, Task> tasks_;  // by device
};

}  // namespace fairgv::daemon
