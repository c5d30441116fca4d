// Workers that serve no session any more: the old worker of a session that has moved, the new one of a move
// that failed. They are killed, and are here until nothing of them is left.
//
// Used by the server's thread only. The event loop outlives this.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/daemon/worker/output.hpp"
#include "runtime/daemon/worker/process.hpp"

namespace fairgv::daemon {

class RetiredWorkers {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RetiredWorkers(EventLoop& events) : events_(events) {}

  /// Kills the worker, which was the session's. What it still says is logged.
  void add(SessionId session, WorkerProcess process, std::unique_ptr<WorkerOutput> messages);

  bool empty() const { return workers_.empty(); }
  /// Whether anything is left of the session's earlier workers.
  bool any_of(SessionId session) const;

  /// The time at which expire() is to be called.
  std::optional<Time> deadline() const;
  void expire(Time now);

 private:
  struct Worker {
    SessionId session;
    WorkerProcess process;
    std::unique_ptr<WorkerOutput> messages;
    std::optional<Time> clear_at{};  // none: it has not ended yet
    unsigned looks = 0;
    EventLoop::Watch watch{};
  };
  void on_end(Worker& worker);

  EventLoop& events_;
  std::list<Worker> workers_;
};

}  // namespace fairgv::daemon
