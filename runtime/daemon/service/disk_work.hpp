// Work that may wait for a disk, on a thread of its own each, so that the server's thread never does.
//
// Used by the server's thread only. The event loop outlives this.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "runtime/base/result.hpp"
#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/service/event_signal.hpp"

namespace fairgv::daemon {

class DiskWork {
 public:
  using Id = std::uint64_t;
  /// Runs on the thread. What it uses outlives it, or is its own. It returns soon once `stop` is set.
  using Work = std::function<Result<void>(const std::atomic<bool>& stop)>;
  /// Runs on the server's thread, once the work has ended.
  using Done = std::function<void(const Result<void>&)>;

  explicit DiskWork(EventLoop& events) : events_(events) {}
  DiskWork(const DiskWork&) = delete;
  DiskWork& operator=(const DiskWork&) = delete;
  /// Stops all work and waits for it. Nobody is told.
  ~DiskWork();

  Result<Id> start(Work work, Done done);
  /// Tells the work to stop; nobody hears of its end. Nothing happens if it has ended.
  void forget(Id id);

 private:
  struct Job {
    Job(EventSignal signal, Done when_done) : ended(std::move(signal)), done(std::move(when_done)) {}
    std::atomic<bool> stop{false};
    Result<void> result{};  // the thread's until `ended` is raised
    EventSignal ended;
    Done done;  // empty: nobody is told
    EventLoop::Watch watch{};
    std::thread thread{};
  };
  void on_end(Id id);

  EventLoop& events_;
  std::map<Id, std::unique_ptr<Job>> jobs_;
  Id last_ = 0;
};

}  // namespace fairgv::daemon
