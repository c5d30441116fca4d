// The host's processors in a simulation: every program has one thread, pinned to a processor, and needs it
// for its work between two bursts (TenantSpec::host_work). Each processor has a scheduler like Xen's for
// credits.
//
// - A thread's credits are processor time. They are handed out every 30 ms, a period's worth per
//   processor, in proportion to the host weights (TenantAttributes::host_weight) of the threads that
//   wanted the processor in the period, and stay within a period of zero. A thread pays for all the time
//   that it runs.
// - Threads with credits left (UNDER) run before threads without (OVER), as of the last tick; within each
//   class they take turns of 30 ms at most. A thread that wakes with credits left goes first (BOOST) until
//   the next tick.
// - Every 10 ms there is a tick, at which slices end. The simulation tells the policies of the host then.
// - A change of threads, and the waking of one, costs `switch_cost` of the processor's time.
//
// A program that waits for the device polls, or yields its processor: FairGV's hybrid spinning (section
// 3.2.2), here without the spinning before. A thread that polls in `polls` mode cannot be told from one
// that works. With GPU-centric coscheduling (section 3.2.3, algorithm 4; Turn::switch_in) a program's
// thread polls during the program's turn, so that it answers without a switch. It goes first when it has
// work, and last while it polls.
//
// Simplified: threads do not migrate, and credits are of one processor; exact times instead of samples per
// tick; nothing else runs on the host.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sched/policy.hpp"
#include "sched/simulator/event_queue.hpp"
#include "sched/simulator/program.hpp"

namespace fairgv::sched {

struct HostModel {
  std::size_t processors = 0;  // 0: no program ever lacks one, and host work is sleep
  Duration period = std::chrono::milliseconds(30);
  Duration tick = std::chrono::milliseconds(10);
  Duration switch_cost{0};
  bool polls = false;  // programs that wait for the device keep their processors busy
};

class SimulatedHost {
 public:
  using Thread = std::size_t;

  /// The queue outlives the host.
  SimulatedHost(const HostModel& model, EventQueue& events);

  /// The thread of one program. Before start().
  Thread add(const TenantSpec& spec, std::size_t device, std::size_t session);
  void start(Time now);

  /// The thread has so much to do. A host_work_ends event of its session follows; ask finished() then.
  void work(Thread thread, Duration time, Time now);
  bool finished(Thread thread, Time now);
  /// Its program waits for the device.
  void wait(Thread thread, Time now);
  /// Its program sleeps.
  void sleep(Thread thread, Time now);
  /// Its program has a turn for which the host side is woken, and has it no longer.
  void switch_in(Thread thread, Time now);
  void switch_out(Thread thread, Time now);

  /// The host's tick: the next one is scheduled.
  void tick(Time now);
  HostState state(Thread thread) const;

 private:
  enum class Need { nothing, poll, work };

  struct ThreadState {
    std::size_t device;
    std::size_t session;
    std::size_t processor;
    std::uint32_t weight;
    Need need = Need::nothing;
    Duration left{0};  // of its work
    Duration credit{0};
    bool over = false;  // had no credits left at the last tick
    bool boosted = false;
    bool switched_in = false;
    bool active = false;  // has wanted the processor in this period
  };

  struct Processor {
    std::vector<Thread> threads;  // all that are pinned here
    std::deque<Thread> queue;     // that want it, without the running one
    std::optional<Thread> running;
    Time runs_from{};  // after the switch
    Time paid_until{};
    Time slice_ends{};
  };

  void need(Thread thread, Need what, Time now);
  int rank(const ThreadState& thread) const;
  void settle(Processor& processor, Time now);
  void reschedule(Processor& processor, Time now);
  void dispatch(Processor& processor, Time now);
  void plan_end(const Processor& processor, Time now);
  void hand_out(Processor& processor);

  const HostModel model_;
  EventQueue& events_;
  std::vector<ThreadState> threads_;
  std::vector<Processor> processors_;
  Duration since_hand_out_{0};
};

}  // namespace fairgv::sched
