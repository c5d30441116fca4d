// Runs a session's commands: keeps the command graph and the events, issues what is ready while this session
// has the device's turn, and takes the drivers' reports.
//
// Two kinds of thread meet here. The loop thread adds commands and issues them, so that commands reach the
// driver without a thread hop. Driver threads report completions: they write completion slots, end markers,
// close runs and give turns back by themselves, and wake the loop thread only when it has something to do.
// One lock guards all state; it is never held while calling into a driver, and neither a callback nor the
// loop waits for anything else under it. Callbacks do not even wait for the lock: its holder may have lost
// its processor for milliseconds, and a driver's thread that waits may be the device itself. They leave their
// report (Reports), and the lock's holder takes it up when letting go.
//
// DeviceIssuer has the commands that are ready and may go, Completions tells of ends; the executor is the
// lock around both, the threads that meet there, and the hand-over to drivers.
//
// The loop thread is the thread that has the helm; Loop has what only that thread may do. Where a driver's
// threads run the commands themselves (a CPU device), the thread that reports the last command of a program
// that comes back quickly takes the helm for a moment and serves the program's next calls (StandIn).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/vgpu/ends/completions.hpp"
#include "runtime/vgpu/ends/reports.hpp"
#include "runtime/vgpu/executor/compilations.hpp"
#include "runtime/vgpu/executor/helm.hpp"
#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/vgpu/graph/device_command.hpp"
#include "runtime/vgpu/graph/event_table.hpp"
#include "runtime/vgpu/graph/notices.hpp"
#include "runtime/vgpu/issue/device_issuer.hpp"
#include "runtime/vgpu/issue/settings.hpp"

namespace fairgv::vgpu {

/// Serves the session's calls for a moment on a driver's thread.
class StandIn {
 public:
  /// It lets go of the helm. No command is under way or could be issued.
  virtual void stand_in(Helm::Held held) = 0;

 protected:
  ~StandIn() = default;
};

class Executor final : public CompletionSink {
 public:
  static constexpr std::chrono::microseconds kBriefPause = Completions::kBriefPause;

  class Loop;

  /// One turn per device of the topology. Both outlive the executor.
  Executor(const ring::Segment& segment, std::span<session::DeviceTurn> turns, IssueSettings settings);
  ~Executor();

  // ---- while a call is handled: requests of the front end. An Error means that it broke the protocol.

  /// Queues a command; `completion` may be none. It is issued by a later Loop::pump().
  Result<void> enqueue(std::shared_ptr<DeviceCommand> command, wire::EventId completion,
                       std::span<const wire::EventId> wait_list);
  /// Queues a command that never reaches a driver: a marker, a barrier, a pass or an access. `error`: it uses
  /// a poisoned object.
  Result<void> enqueue_marker(Work work, std::shared_ptr<Lane> lane, std::int32_t error,
                              wire::EventId completion, std::span<const wire::EventId> wait_list);
  /// Queues any node of a lane, which waits for the nodes `after`, too.
  Result<void> enqueue_after(const NodePtr& node, wire::EventId completion,
                             std::span<const wire::EventId> wait_list, std::span<const NodePtr> after) {
    return add(node, completion, wait_list, after);
  }
  /// Queues commands each of which waits for the one before it and fails with it; the first waits for
  /// `wait_list`, the last is `completion`'s. False, and nothing is queued: there is none, or there are more
  /// than may be pending.
  Result<bool> enqueue_sequence(std::span<const std::shared_ptr<DeviceCommand>> commands,
                                wire::EventId completion, std::span<const wire::EventId> wait_list);
  /// Ends an access that was granted.
  Result<void> end_access(wire::EventId event);
  Result<void> create_user_event(wire::EventId event);
  Result<void> set_user_event(wire::EventId event, std::int32_t status);
  Result<void> watch_event(wire::EventId event, std::int32_t status);
  Result<void> release_event(wire::EventId event);

  /// Something that the worker does on the host, visible as an event if there is one; ended by
  /// end_host_work().
  Result<NodePtr> begin_host_work(wire::EventId event);

  /// Queues a node that ends after everything that is pending and ends without the program's doing. False,
  /// and nothing is queued, if there is nothing of that kind.
  bool enqueue_behind_moving(const NodePtr& node);
  /// `promptly`: commands are freed as soon as they have ended, because somebody waits for memory that they
  /// hold.
  void free_promptly(bool promptly);

  /// The reply to a call is there; the call began at `began_ns`, as the front end says.
  void answering(wire::Opcode opcode, std::uint64_t began_ns);

  /// An object was released: make sure that commands under way let go of it soon after they end.
  void note_release() {
    release_noted_.store(true, std::memory_order_relaxed);
    attention_.store(true, std::memory_order_relaxed);
  }

  // ---- the loop thread

  /// The holder is the loop thread.
  Helm& helm() { return helm_; }
  /// For the holder of the helm, while it holds it.
  Loop& at(const Helm::Held&) { return *loop_; }
  /// Has `stand_in` serve a program that comes back quickly, where drivers report the last command and nobody
  /// else has the helm. Before the first command, which it outlives.
  void set_stand_in(StandIn* stand_in) { stand_in_ = stand_in; }

  // ---- any thread

  /// Whether any device is at work for this session.
  bool in_flight() const { return in_flight_.load(std::memory_order_relaxed) != 0; }

  /// Whether the session rests, so that nothing of it may change (Loop::rest()). Sequentially consistent: a
  /// thread that begins something first says so, then asks.
  bool rests() const { return rests_.load(std::memory_order_seq_cst); }

  void completed(DeviceCommand& command, std::int32_t status) override;
  void compiled(DeviceCommand& command) override;
  /// Ends host work, or an access that the worker carries out itself; with an error, also all that is behind
  /// the access.
  void end_host_work(Node& work, std::int32_t status);
  /// Something begins to compile for the program, or has ended: the daemon is told.
  void compiles(bool begins);
  /// A launch has been prepared for slicing, or cannot be.
  void reconsider();

 private:
  /// While the device is at work: the front end is made to wait, long before it would be refused.
  static constexpr std::uint64_t kMostPending = 32'768;
  /// Threads of a front end that send at a time: each may have seen just before that there is room.
  static constexpr std::uint64_t kMostThreads = 4'096;
  static constexpr std::size_t kMostRetired = 256;

  Result<void> check_limits() const;
  Result<void> add(const NodePtr& node, wire::EventId completion, std::span<const wire::EventId> wait_list,
                   std::span<const NodePtr> after = {});

  /// The lock. A thread that lets go of it takes up what drivers have reported meanwhile.
  /// A driver's thread is in here, and may be so for a moment after the program has seen the end that it
  /// reports: the executor outlives that.
  class Visit {
   public:
    explicit Visit(Executor& executor) : executor_(executor) {
      executor_.visits_.fetch_add(1, std::memory_order_relaxed);
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    // Release: pairs with the acquire in ~Executor().
    ~Visit() { executor_.visits_.fetch_sub(1, std::memory_order_release); }

   private:
    Executor& executor_;
  };

  class Lock {
   public:
    explicit Lock(Executor& executor) : executor_(executor), lock_(executor.mutex_) {}
    Lock(Executor& executor, std::try_to_lock_t only_try)
        : executor_(executor), lock_(executor.mutex_, only_try) {}
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() {
      if (held()) unlock();
    }

    bool held() const { return lock_.owns_lock(); }
    void lock() { lock_.lock(); }
    void unlock() {
      unlock_only();
      executor_.take_reports();
    }
    /// take_reports() follows.
    void unlock_only() { lock_.unlock(); }

   private:
    Executor& executor_;
    std::unique_lock<std::mutex> lock_;
  };

  DeviceIssuer& issuer_of(const DeviceCommand& command) { return *issuers_[command.lane()->device()]; }

  // With the lock held.
  void add_to_graph(const NodePtr& node, bool named_waits, std::int32_t failed_wait);
  void was_added(Lock& lock);
  void end(const Reports::Report& report);
  void look_at_device(DeviceCommand& command, std::int32_t error);
  /// Takes up the reports in reports_; whether the loop thread is to be woken.
  bool take_up();
  /// `told_ns`: see Completions.
  void collect(TimePoint now, std::uint64_t told_ns = 0);
  bool pump_wanted();
  /// Whether it must be the loop thread that is woken.
  bool loop_wanted() const;
  void tell_backlog();
  void compiler_is_done();
  bool busy() const;
  /// Whether commands are pending that only the program can make ready.
  void tell_if_program_is_waited_for();
  bool keeps_idle_turn() const;
  /// Whether nothing is under way or ready beside the commands that have just ended and are still to be
  /// collected.
  bool ends_all();
  /// After a completion: whether nothing is left to do and the program has come back quickly so far. Then the
  /// loop thread is woken together with the program, so that it is awake when the next command arrives: one
  /// wake-up less in the path of a program that waits for every kernel (FairGV, section 3.2.3).
  bool next_command_is_near(TimePoint now);

  /// Lets go of the lock, then rings the bells for the work done under it, and takes up the reports that came
  /// meanwhile.
  void finish(Lock& lock, bool wake_loop);
  void ring_after(Lock& lock, bool wake_loop);
  /// Without the lock: takes up the reports, unless another thread has the lock, which comes by here later.
  void take_reports();

  const ring::Segment& segment_;
  const IssueSettings settings_;
  const std::uint64_t most_at_work_;       // pending commands, at which reading stops
  const std::uint64_t most_on_their_way_;  // commands that a front end may have sent before it could be told

  Helm helm_;
  StandIn* stand_in_ = nullptr;
  std::unique_ptr<Loop> loop_;

  Reports reports_;

  std::mutex mutex_;  // guards everything below
  CommandGraph graph_;
  Notices notices_;
  EventTable events_;
  std::vector<std::unique_ptr<DeviceIssuer>> issuers_;  // by device; fixed after construction
  Completions completions_;
  std::vector<NodePtr> waits_;  // scratch of add()
  Compilations compilations_;
  bool reading_paused_ = false;
  bool backlogged_ = false;
  bool frees_promptly_ = false;

  std::atomic<bool> attention_{false};  // the loop has something to do
  std::atomic<bool> rests_{false};
  std::atomic<bool> release_noted_{false};  // relaxed: a hint
  std::atomic<std::uint32_t> visits_{0};
  std::atomic<std::uint64_t> in_flight_{0};  // of all devices; written with the lock held, relaxed: a hint
};

}  // namespace fairgv::vgpu
