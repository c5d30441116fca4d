// Devices that fail by themselves: their sessions leave them, as if somebody had drained them.
//
// A worker is no witness: it may say of a device whatever its program has made it say. So when a worker says
// that its driver calls a device failed, or when workers of two tenants crash on a device within a moment,
// the daemon starts a worker of its own for a trial, which serves no session, has nothing of any program, and
// runs as the daemon's user. If the device cannot be used there either, it has failed. Anything else, a trial
// that is killed, hangs or finds no memory, says nothing, and the device stays in service.
//
// The worker that has spoken hands nothing more to the device meanwhile, so that its program loses the
// commands that were under way and no others. It is told to go on if the device works, or if its session
// cannot leave.
//
// Trials cost a process and milliseconds of the device, outside of turns. A user causes at most one in a
// while on each device, and only a few are under way at a time.
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/moves/drains.hpp"
#include "runtime/daemon/moves/retired_workers.hpp"
#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/sessions/device_keeper.hpp"
#include "runtime/daemon/sessions/session.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/worker_starter.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

class Failures {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::size_t kMostTrials = 4;
  /// From one trial on a device that a user has caused to the next.
  static constexpr std::chrono::seconds kBetweenTrials{30};
  /// Crashes on a device within this time may have one cause.
  static constexpr std::chrono::seconds kTogether{30};

  struct Needs {
    EventLoop& events;
    const Sessions& sessions;
    DeviceKeeper& devices;
    Drains& drains;
    const WorkerStarter& starter;
    UserLog& log;
    /// The session's worker cannot be told that it is to use a device.
    std::function<void(Session&)> unheard;
  };
  explicit Failures(Needs needs) : needs_(std::move(needs)), retired_(needs_.events) {}
  Failures(const Failures&) = delete;
  Failures& operator=(const Failures&) = delete;

  /// The worker of a running session says that a device has failed. An Error if it has nothing to do with it.
  Result<void> hear(Session& session, const session::DeviceFailed& said);
  /// The worker of a running session has crashed.
  void note_crash(const Session& session);
  /// The session uses the device, whatever comes of that.
  void use(Session& session, std::uint32_t device);
  /// No trial begins from now on, and those under way say nothing; or they may again.
  void refuse(bool refuses);
  /// Whether no trial is under way, and nothing is left of one.
  bool settled() const { return trials_.empty() && retired_.empty(); }

  /// The time at which expire() is to be called.
  std::optional<Time> deadline() const;
  void expire(Time now);

 private:
  using Verdict = session::TrialEnded::Verdict;
  struct Trial {
    WorkerStarter::Successor worker;
    Account by{};
    std::string cause{};
    std::vector<SessionId> waiting{};  // sessions whose workers hand nothing to the device
    Time give_up{};
    EventLoop::Watch channel_watch{};
    EventLoop::Watch process_watch{};
  };
  struct Crash {
    TenantId tenant{};
    Time at{};
  };

  bool begin(const Session& session, std::uint32_t device, const std::string& cause);
  bool may_begin(const Account& by, std::uint32_t device);
  Result<void> watch(std::uint32_t device, Trial& trial);
  void on_message(std::uint32_t device);
  void on_end(std::uint32_t device);
  void finish(std::uint32_t device, const session::TrialEnded& ended);
  void fail(std::uint32_t device, const Trial& trial, const std::string& reason);

  const Needs needs_;
  std::map<std::uint32_t, Trial> trials_;   // by the host's device
  std::map<std::uint32_t, Crash> crashes_;  // the latest of each of the host's devices
  std::map<std::pair<std::uint32_t, std::uint32_t>, Time> not_before_;  // by device and user
  bool refuses_ = false;
  RetiredWorkers retired_;
};

}  // namespace fairgv::daemon
