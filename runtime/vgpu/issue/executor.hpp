// Runs a session's commands: keeps the command graph and the events, issues what is ready while this session
// has the device's turn, and takes the drivers' reports.
//
// Two kinds of thread meet here. The loop thread adds commands and issues them, so that commands reach the
// driver without a thread hop. Driver threads report completions: they write completion slots, end markers,
// close runs and give turns back by themselves, and wake the loop thread only when it has something to do.
// One lock guards all state; it is never held while calling into a driver, and neither a callback nor the
// loop waits for anything else under it. Callbacks do not even wait for the lock: who holds it may have lost
// its processor for milliseconds, and a driver's thread that waits may be the device itself. They leave their
// report (Reports), and whoever has the lock takes it up when letting go.
//
// A launch whose machine code the driver still has to make goes to the driver before its turn, alone, and
// waits there: other tenants have the device while a compiler runs, and no turn measures one. Other commands
// that are ready wait meanwhile, too, because the driver may have one thread only.
//
// The loop thread is whoever has the helm. Where a driver's threads run the commands themselves (a CPU
// device), the one that reports the last command of a program that comes back quickly takes it for a moment
// and serves the program's next calls (StandIn).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/compile_clock.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/vgpu/ends/notices.hpp"
#include "runtime/vgpu/ends/reports.hpp"
#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/vgpu/graph/device_command.hpp"
#include "runtime/vgpu/graph/event_table.hpp"
#include "runtime/vgpu/helm.hpp"
#include "runtime/vgpu/issue/slicer.hpp"
#include "runtime/vgpu/tracer.hpp"
#include "runtime/vgpu/turn/turn_keeper.hpp"

namespace fairgv::vgpu {

/// Serves the session's calls for a moment on a driver's thread.
class StandIn {
 public:
  /// With the helm, which it lets go of. No command is under way or could be issued.
  virtual void stand_in() = 0;

 protected:
  ~StandIn() = default;
};

class Executor final : public CompletionSink {
 public:
  /// A turn that is kept no longer than this for the program's next command is not worth a sleep.
  static constexpr std::chrono::microseconds kWorthSpinning{100};

  /// A program whose pauses are shorter than this is waited for on the driver's thread. After a wait for its
  /// commands it comes back two wake-ups later, which take 50 to 100 us each in a virtual machine.
  static constexpr std::chrono::microseconds kBriefPause{250};

  /// What a program may have pending that only it can make progress possible for.
  struct Limits {
    /// Commands. The front end is told and sends no more; what it has sent by then is taken, and who goes on
    /// breaks the protocol.
    std::uint64_t commands = std::uint64_t{1} << 18;
    /// Events in the wait lists of commands that have not ended. A command whose list goes beyond fails.
    std::uint64_t waits = std::uint64_t{1} << 23;
    /// That are to be posted, or were not taken.
    std::uint64_t notices = wire::kMostNotices;
  };
  struct Settings {
    TurnSettings turn;
    std::function<TimePoint()> now = std::chrono::steady_clock::now;
    /// Tells the dispatcher to look at a device's turn; false when that must be tried again.
    std::function<bool(wire::DeviceIndex)> knock = [](wire::DeviceIndex) { return true; };
    SlicingSettings slicing{};
    Limits limits{};
    /// Hears of a command that ran for longer than a slice while others wanted the device, and why it was not
    /// run in parts. With the lock held: it must return soon.
    std::function<void(const DeviceCommand&, std::string_view why_whole, Duration, TimePoint)> held_long{};
    /// Told before a driver is handed a launch to make code for, and when that is over, in turn: on the loop
    /// thread or, of the second, on a thread of the driver's, with the lock held.
    std::function<void(bool at_work)> compiler{};
    /// Records what ends, while somebody traces; may be null. Used with the lock held. Outlives the executor.
    Tracer* tracer = nullptr;
  };

  /// One turn per device of the topology. Both outlive the executor.
  Executor(const ring::Segment& segment, std::span<session::DeviceTurn> turns, Settings settings);

  // ---- loop thread: what the front end asks for. An Error means that it broke the protocol.

  /// Queues a command; `completion` may be none. It is issued by a later pump().
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

  /// Something that the worker does on the host, visible as an event; ended by end_host_work().
  Result<NodePtr> begin_host_work(wire::EventId event);

  /// Queues a node that ends after everything that is pending and ends without the program's doing. False,
  /// and nothing is queued, if there is nothing of that kind.
  bool enqueue_behind_moving(const NodePtr& node);
  /// As long as somebody waits for what ended commands hold, they are freed as soon as they have ended.
  void free_promptly(bool promptly);

  /// What is known of the call that is being handled.
  struct Request {
    std::uint32_t cpu = 0;  // where the program was when it sent it
    wire::Opcode opcode = 0;
    std::uint64_t told_ns = 0;  // wire::time_of() its tag
  };
  void reading(const Request& request) { request_ = request; }
  /// The reply is there to a call that began at `began_ns`, as the front end says.
  void answering(wire::Opcode opcode, std::uint64_t began_ns);

  /// An object was released: make sure that commands under way let go of it soon after they end.
  void note_release() {
    release_noted_.store(true, std::memory_order_relaxed);
    attention_.store(true, std::memory_order_relaxed);
  }

  // ---- loop thread: running

  /// Issues what may be issued, ends what is over, frees what has ended.
  void pump();

  /// As pump(), but frees nothing: what has ended may be what the driver is just reporting, or the program
  /// about to come back.
  void issue();
  /// What has ended.
  void free_retired();
  /// Nothing is to be done, and a turn is kept for the program's next command.
  bool idles_in_turn();

  /// Whether pump() would find something to do: cheap, for the loop's wait.
  bool needs_pump() const {
    if (attention_.load(std::memory_order_acquire)) return true;  // pairs with the release in finish()
    for (const auto& device : devices_) {
      if (device->keeper.changed()) return true;
    }
    return false;
  }

  /// Whether what has been read is to be issued before more is read: the device is at work on that meanwhile.
  /// The first command after a pause at once; then four for each that there were, so that it does not wait
  /// for all that a program sends, and little time goes into looking after it, even if it takes none.
  bool feeds_first() const {
    const bool begins = pending_seen_ == 1 && !in_flight();
    const bool goes_on = pending_seen_ >= (1 + kRampUp) * std::max<std::uint64_t>(1, pending_at_issue_);
    return (begins || goes_on) && attention_.load(std::memory_order_relaxed);
  }

  /// When pump() must be called again at the latest. `spin`: it is so soon that the caller must not sleep.
  struct Deadline {
    TimePoint at = TimePoint::max();
    bool spin = false;
  };
  Deadline deadline() const { return deadline_; }

  /// Whether any device is at work for this session.
  bool in_flight() const { return in_flight_.load(std::memory_order_relaxed) != 0; }

  /// Who has it is the loop thread, for all that is the loop thread's here.
  Helm& helm() { return helm_; }
  /// Has `stand_in` serve a program that comes back quickly, where drivers report the last command and nobody
  /// else has the helm. Before the first command, which it outlives.
  void set_stand_in(StandIn* stand_in) { stand_in_ = stand_in; }

  /// Too much is pending: read no more calls before the next pump(). Never while only the client can make
  /// progress possible, who could not say so any more.
  bool saturated();

  // ---- any thread

  void completed(DeviceCommand& command, std::int32_t status) override;
  void compiled(DeviceCommand& command) override;
  void end_host_work(Node& work, std::int32_t status);
  /// Something begins to compile for the program, or has ended: the daemon is told.
  void compiles(bool begins);
  /// A launch has been prepared for slicing, or cannot be.
  void reconsider();

 private:
  struct Device {
    Device(session::DeviceTurn& its_turn, const Settings& settings, std::function<void()> knock)
        : turn(its_turn), keeper(its_turn, settings.turn, std::move(knock)), slicer(settings.slicing) {}
    session::DeviceTurn& turn;
    TurnKeeper keeper;
    Slicer slicer;
    std::deque<std::shared_ptr<DeviceCommand>> ready;  // in the order in which they became so
    bool knock_again = false;
    bool compile_next = false;                 // the first that is ready has to be compiled, alone,
    bool compile_in_parts = false;             // as what runs its parts
    std::shared_ptr<DeviceCommand> compiling;  // handed to the driver for that
    /// The first that is ready, if it has been compiled: it waits in the driver for issue().
    const DeviceCommand* compiled = nullptr;
    std::optional<TimePoint> ahead_from;  // when the next part of a launch may be issued, if that is to come
  };

  /// While the device is at work: the front end is made to wait, long before it would be refused.
  static constexpr std::uint64_t kMostPending = 32'768;
  /// Of a front end that send at a time: each may have seen just before that there is room.
  static constexpr std::uint64_t kMostThreads = 4'096;
  static constexpr std::size_t kBatch = 16;
  /// With one instead of four, twelve launches of 2 us took an H100 two fifths longer than when all were read
  /// first, with four about as long (docs/results/gpu.md).
  static constexpr std::uint64_t kRampUp = 4;
  static constexpr std::size_t kMostRetired = 256;

  Result<void> check_limits() const;
  Result<void> add(const NodePtr& node, wire::EventId completion, std::span<const wire::EventId> wait_list,
                   std::span<const NodePtr> after = {});

  /// The lock. Whoever lets go of it takes up what drivers have reported meanwhile.
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

  // The loop thread's.
  void pump(Device& device);
  void prepare_slicing(Device& device, Lock& lock);
  void compile_first(Device& device, Lock& lock);
  void hand_over();
  static std::int32_t wait_refused(const DeviceCommand& command, const Node& refused);
  void refuse(DeviceCommand& command);

  // With the lock held.
  void add_to_graph(const NodePtr& node, bool named_waits, std::int32_t failed_wait);
  void was_added(Lock& lock);
  void end(const Reports::Report& report);
  /// What is in reports_; whether the loop thread is to be woken.
  bool take_up();
  void pick(Device& device, std::uint64_t allowed, TimePoint now);
  void pick_part(Device& device, const TurnKeeper::Offer& offer, TimePoint now);
  void end_part(Device& device, DeviceCommand& command, std::int32_t status, TimePoint now);
  bool refuse_part(Device& device, DeviceCommand& command);
  void choose_observed(std::uint64_t every);
  /// What to issue next, or nothing.
  TurnKeeper::Next next_work(Device& device);
  TurnKeeper::Next offer(Device& device, DeviceCommand& first, bool in_parts);
  void collect(TimePoint now);
  void collect_ready();
  void collect_granted();
  void collect_ended(TimePoint now);
  void tell_if_held_long(Device& device, DeviceCommand& command, TimePoint now);
  void settle(TimePoint now);
  bool pump_wanted();
  /// Whether it must be the loop thread that is woken.
  bool loop_wanted();
  void tell_backlog();
  void tell_compiling(bool begins);
  void record_waits(TimePoint now);
  bool busy() const;
  bool keeps_idle_turn() const;
  /// Of what has just ended and is still to be collected: nothing is under way or ready besides.
  bool ends_all();
  /// After a completion: whether nothing is left to do and the program has come back quickly so far. Then the
  /// loop thread is woken together with the program, so that it is awake when the next command arrives: one
  /// wake-up less in the path of a program that waits for every kernel (FairGV, section 3.2.3).
  bool next_command_is_near(TimePoint now);
  void update_deadline(TimePoint now);

  /// Lets go of the lock, then rings the bells of what was done under it, and takes up what was reported
  /// meanwhile.
  void finish(Lock& lock, bool wake_loop);
  void ring_after(Lock& lock, bool wake_loop);
  /// Without the lock: what was put there is taken up, unless somebody has the lock, who comes by here later.
  void take_reports();

  const ring::Segment& segment_;
  const Settings settings_;
  const std::uint64_t most_at_work_;       // pending commands, at which reading stops
  const std::uint64_t most_on_their_way_;  // commands that a front end may have sent before it could be told
  std::vector<std::unique_ptr<Device>> devices_;  // fixed after construction

  Helm helm_;
  StandIn* stand_in_ = nullptr;

  Reports reports_;

  std::mutex mutex_;  // guards everything below, and the devices
  CommandGraph graph_;
  Notices notices_;
  EventTable events_;
  std::vector<NodePtr> retired_;    // ended; destroyed on the loop thread, outside the lock
  std::vector<NodePtr> waits_;      // scratch of add()
  std::uint32_t compilations_ = 0;  // under way, of whatever kind
  session::CompileClock compile_clock_;
  bool reading_paused_ = false;
  bool backlogged_ = false;
  std::optional<TimePoint> idle_since_;  // nothing to do since then
  bool pauses_briefly_ = false;          // from the last idle moment to the next command it was not long

  std::vector<std::shared_ptr<DeviceCommand>> batch_;  // the loop thread's: being handed over
  std::vector<NodePtr> dying_;                         // the loop thread's: being destroyed
  std::uint64_t pending_seen_ = 0;                     // the loop thread's: pending after the last add
  std::uint64_t pending_at_issue_ = 0;                 // the loop thread's: when it issued last
  Deadline deadline_;                                  // the loop thread's
  Request request_;                                    // the loop thread's: the latest

  std::atomic<bool> attention_{false};       // pump() has something to do
  std::atomic<bool> release_noted_{false};   // relaxed: a hint
  bool frees_promptly_ = false;              // with the lock held
  std::atomic<std::uint64_t> in_flight_{0};  // of all devices; written with the lock held, relaxed: a hint
};

}  // namespace fairgv::vgpu
