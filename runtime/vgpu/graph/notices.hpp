// The notice ring, worker to front end: tells that a watched event has reached a status.
//
// post() never waits, because driver callbacks call it: a notice that does not fit is kept and sent by the
// next post() or flush(). Externally synchronised, by the executor's lock.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "runtime/ring/segment.hpp"
#include "runtime/ring/spsc_ring.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::vgpu {

class Notices {
 public:
  explicit Notices(const ring::Segment& segment) : ring_(segment.notices()) {}

  void post(const wire::EventReached& notice);

  /// Until now the ring was another worker's.
  void take_over() { ring_.take_over(); }

  /// Sends it with the next post() or flush(), not now: the ring is still another worker's.
  void keep(const wire::EventReached& notice) { backlog_.push_back(notice); }

  /// Sends kept notices, as far as there is room. The front end rings the worker when it has made room.
  void flush();

  bool has_backlog() const { return !backlog_.empty(); }
  std::size_t backlog() const { return backlog_.size(); }
  std::vector<wire::EventReached> kept() const { return {backlog_.begin(), backlog_.end()}; }

  /// Whether something was sent since the last call: then the caller rings the notice bell, after letting go
  /// of its lock.
  bool take_sent() { return std::exchange(sent_, false); }

 private:
  bool send(const wire::EventReached& notice);

  ring::RingProducer ring_;
  std::deque<wire::EventReached> backlog_;
  bool sent_ = false;
};

}  // namespace fairgv::vgpu
