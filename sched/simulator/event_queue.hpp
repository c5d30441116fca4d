// The future events of a simulation, in order of time. Among equals the event that was scheduled first goes
// first, so that a run can be repeated exactly.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "sched/policy.hpp"

namespace fairgv::sched {

struct SimulationEvent {
  enum class Kind {
    program_wakes,   // `subject` is a session of the device
    run_ends,        // the commands that were issued have ended
    ask_again,       // the policy wanted to be asked at this time
    review,          // ... about the turn in progress
    spin_ends,       // a worker has waited for its program for so long
    host_tick,       // of the host's scheduler
    host_work_ends,  // perhaps, of the program of this session
  };

  Time when{};
  Kind kind = Kind::run_ends;
  std::size_t device = 0;
  std::size_t subject = 0;
};

class EventQueue {
 public:
  void schedule(const SimulationEvent& event) { events_.push({event, scheduled_++}); }
  bool empty() const { return events_.empty(); }
  /// Precondition: not empty.
  const SimulationEvent& first() const { return events_.top().event; }
  void pop() { events_.pop(); }

 private:
  struct Entry {
    SimulationEvent event;
    std::uint64_t order;
    bool operator<(const Entry& other) const {  // the largest is on top
      return event.when != other.event.when ? event.when > other.event.when : order > other.order;
    }
  };

  std::priority_queue<Entry> events_;
  std::uint64_t scheduled_ = 0;
};

}  // namespace fairgv::sched
