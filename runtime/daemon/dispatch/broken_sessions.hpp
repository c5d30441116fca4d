// Sessions that broke the turn protocol, or held a device for too long, on their way from the dispatchers to
// the server's thread, which ends them.
//
// Not thread-safe, except for fd(): the dispatch loop keeps this object under its lock.
#pragma once

#include <utility>
#include <vector>

#include "runtime/daemon/dispatch/dispatcher.hpp"
#include "runtime/daemon/service/event_signal.hpp"

namespace fairgv::daemon {

class BrokenSessions {
 public:
  explicit BrokenSessions(EventSignal signal) : signal_(std::move(signal)) {}

  /// Readable when there are sessions to take.
  int fd() const { return signal_.fd(); }
  void collect(std::vector<Dispatcher>& dispatchers) {
    const std::size_t before = sessions_.size();
    for (Dispatcher& dispatcher : dispatchers) {
      for (BrokenSession& broken : dispatcher.take_broken()) sessions_.push_back(std::move(broken));
    }
    if (sessions_.size() > before) signal_.raise();
  }
  std::vector<BrokenSession> take() {
    signal_.clear();
    return std::exchange(sessions_, {});
  }

 private:
  EventSignal signal_;
  std::vector<BrokenSession> sessions_;
};

}  // namespace fairgv::daemon
