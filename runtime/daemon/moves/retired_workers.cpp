#include "runtime/daemon/moves/retired_workers.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "runtime/daemon/service/deadlines.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

/// The wait before the next look at what is left of a worker; twice as long after each, up to so many times.
constexpr std::chrono::milliseconds kLookForRemains{5};
constexpr unsigned kMostDoublingsOfLooks = 8;

}  // namespace

void RetiredWorkers::add(SessionId session, WorkerProcess process, std::unique_ptr<WorkerOutput> messages,
                         std::function<void()> gone) {
  process.kill();
  Worker& worker =
      workers_.emplace_back(Worker{session, std::move(process), std::move(messages), std::move(gone)});
  auto watch = events_.watch(worker.process.pidfd(), [this, &worker] { on_end(worker); });
  if (watch) {
    worker.watch = std::move(watch).value();
  } else {
    worker.clear_at = Clock::now();
  }
}

bool RetiredWorkers::any_of(SessionId session) const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [session](const Worker& each) { return each.session == session; });
}

void RetiredWorkers::on_end(Worker& worker) {
  worker.watch.reset();
  if (worker.messages) worker.messages->finish();
  worker.clear_at = Clock::now();
}

std::optional<RetiredWorkers::Time> RetiredWorkers::deadline() const {
  std::optional<Time> first;
  for (const Worker& worker : workers_) {
    keep_earlier(first, worker.clear_at);
    if (worker.messages) keep_earlier(first, worker.messages->deadline());
  }
  return first;
}

void RetiredWorkers::expire(Time now) {
  for (Worker& worker : workers_) {
    if (worker.messages) worker.messages->expire(now);
  }
  workers_.remove_if([now](Worker& worker) {
    if (!worker.clear_at || now < *worker.clear_at) return false;
    if (worker.process.clear()) {
      worker.gone();
      return true;
    }
    worker.clear_at = now + kLookForRemains * (1U << std::min(worker.looks++, kMostDoublingsOfLooks));
    if (worker.looks == kMostDoublingsOfLooks) {
      spdlog::warn("session {}: processes that an earlier worker of it has started do not end",
                   worker.session.value);
    }
    return false;
  });
}

}  // namespace fairgv::daemon
