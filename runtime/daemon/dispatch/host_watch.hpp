// Tells policies that follow the host's processors (sched::HostInterest) which tenants' programs run there.
//
// A program counts as scheduled if its process, all threads together, has run for at least an eighth of the
// time since it was looked at last, by the kernel's clock of the process. That clock was chosen, and not the
// states of the threads in /proc/PID/task: it is one number and one look however many threads there are, it
// counts threads that come and go between two looks, and a thread that is runnable and waits for a processor
// is not taken for one that has it. Processes that the program starts are not looked at.
//
// The cost is bounded: nothing is looked at unless a policy asks for it and several sessions want its device,
// or did so within the last 100 ms. At a tick at most kMostLooks programs are looked at, in turn, which takes
// about 0.1 ms. With more programs each is looked at less often; policies forget what they were told after 30
// ms, so beyond 384 programs some count as not scheduled for a part of the time. A program whose process the
// daemon cannot see is never told of.
//
// Pure logic beside the timers; time is an argument. Not thread-safe: the dispatch loop keeps this object
// under its lock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/books/host_credits.hpp"
#include "runtime/daemon/dispatch/dispatcher.hpp"
#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/daemon/turns/place.hpp"

namespace fairgv::daemon {

class HostWatch {
 public:
  using Time = sched::Time;
  using Duration = sched::Duration;

  static constexpr std::size_t kMostLooks = 128;
  static constexpr int kScheduledPart = 8;
  /// Ticks go on for this long after nobody waits for a device any more.
  static constexpr Duration kAfterwards = std::chrono::milliseconds(100);
  /// A look that lies back further says nothing about now.
  static constexpr Duration kStale = std::chrono::milliseconds(100);

  /// `processors`: the host's, at least 1.
  explicit HostWatch(unsigned processors) : credits_(processors) {}

  /// `program`: processor time of the session's program; empty for a program that cannot be seen.
  void add_session(SessionId id, TenantId tenant, ProcessorTimer program);
  void remove_session(SessionId id);

  /// When expire() is to be called, if nothing happens before.
  std::optional<Time> deadline(const std::vector<Dispatcher>& dispatchers) const;
  /// Looks and tells if a tick is due.
  void expire(std::vector<Dispatcher>& dispatchers, Time now);
  /// Programs that were looked at so far, for tests and the cost's bound.
  std::uint64_t looks() const { return looks_; }

 private:
  struct Program {
    TenantId tenant;
    ProcessorTimer timer;
    Time looked{};
    std::optional<Duration> ran{};  // by then
    bool scheduled = false;
  };
  struct Tenant {
    std::size_t programs = 0;   // that can be seen
    std::size_t scheduled = 0;  // of them
  };
  struct Demand {
    std::optional<Duration> tick;  // the shortest that a policy asks for
    bool contended = false;        // sessions wait for a device of such a policy
  };

  static Demand demand(const std::vector<Dispatcher>& dispatchers);
  bool look(Program& program, std::uint32_t weight, Time now);
  std::vector<HostTold> look_at_some(const std::vector<Dispatcher>& dispatchers, Time now);

  HostCredits credits_;
  std::map<SessionId, Program> programs_;
  std::unordered_map<TenantId, Tenant> tenants_;
  SessionId last_{};   // looked at last
  Time next_{};        // the next tick
  Time goes_until_ = Time::min();  // ticks go on so long without anybody who waits
  std::uint64_t looks_ = 0;
};

}  // namespace fairgv::daemon
