// Sessions that leave an oversold device while it is overloaded (config: `oversell_move_to`).
//
// While the device's controller warns (oversell/market.hpp), and has warned for some seconds, its lightest
// session moves: the one that has used the least of the device since the warning began, of those that have
// used it. One session moves at a time, and between two the markets have time to see what the first has
// changed. Only a session whose devices lie in their own places moves: one that was moved, by this or by
// somebody, stays, so that none goes back and forth. One that cannot move is not asked again for a while.
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/devices/device_map.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/moves/moves.hpp"
#include "runtime/daemon/sessions/device_keeper.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class Reliefs {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kLook{1};
  /// How long a warning lasts before anything moves: a cap that changes helps within seconds.
  static constexpr std::chrono::seconds kLasting{3};
  /// From the end of one move to the next.
  static constexpr std::chrono::seconds kRest{20};
  /// How long a session that could not move is not asked again.
  static constexpr std::chrono::seconds kRefused{120};

  struct Needs {
    const Config& config;
    const Sessions& sessions;
    Moves& moves;
    DeviceKeeper& devices;
    Tenancies& tenancies;
    UserLog& log;
    /// The devices that are overloaded, as the books number them.
    std::function<std::vector<std::uint32_t>()> overloaded;
    /// The time that the session has used so far, in nanoseconds, by the host's devices.
    std::function<std::vector<std::uint64_t>(SessionId)> used_ns;
  };
  explicit Reliefs(Needs needs) : needs_(std::move(needs)) {}
  Reliefs(const Reliefs&) = delete;
  Reliefs& operator=(const Reliefs&) = delete;

  /// The time at which expire() is to be called.
  std::optional<Time> deadline() const;
  void expire(Time now);

 private:
  struct Overload {
    Time since{};
    std::map<SessionId, std::uint64_t> used_then{};  // nanoseconds
  };
  struct Candidate {
    std::uint64_t used = 0;
    SessionId id{};
    DeviceMap::Pairs placed{};  // what lies on the device, with the place to which it goes
  };

  std::uint64_t used_of(SessionId id, std::uint32_t device) const;
  std::map<SessionId, std::uint64_t> used_by_all(std::uint32_t device) const;
  std::vector<Candidate> candidates(std::uint32_t device, std::uint32_t to, const Overload& overload) const;
  std::optional<DeviceMap::Pairs> placed_of(const Session& session, std::uint32_t device,
                                            std::uint32_t to) const;
  void relieve(std::uint32_t device, std::uint32_t to, const Overload& overload, Time now);
  void take_outcome(Time now);

  const Needs needs_;
  std::map<std::uint32_t, Overload> overloads_;  // by device, as the books number them
  std::map<SessionId, Time> refused_;            // sessions that could not move, until then
  bool moves_ = false;                           // a session does
  std::optional<MoveOutcome> done_{};            // of the latest move, until the next look
  Time rests_until_{};
  Time next_look_{};
};

}  // namespace fairgv::daemon
