// Decides when work runs: streams, their dependencies, and the threads that do the work (CUDA Driver API,
// "Stream synchronization behavior" and "Stream Management").
//
// An Operation is one piece of work: a launch, a copy, a host function, or a marker without work. It becomes
// runnable when everything that it was submitted behind is done:
//   - the operation before it in its stream;
//   - in a blocking stream: the legacy stream's last operation;
//   - in the legacy stream: the last operation of every blocking stream of the same group;
//   - the operation that the caller names besides (an event's marker).
// There are two kinds of work. A thread does the first kind from begin to end. The second kind, launches,
// only has to be begun, and its end is reported later (ended()). A launch behind launches of its own stream
// is begun as soon as those are begun, because the device's queue keeps their order: a stream of launches
// costs no switch of threads.
//
// A wait for memory is an operation that nobody does: once its turn has come, one thread looks at all such
// waits from time to time, and when a stream has written a word.
//
// One lock guards the whole graph; work runs outside of it, on an executor thread or on the thread that waits
// for it. Executor threads are started when something is runnable and none is free, so that a host function
// that blocks holds up its own stream only. They belong to the scheduler, live until shutdown(), and take no
// signals.
//
// Any thread may call. A fault (a launch that failed) sticks to the group: later work is not run and has the
// same result.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/scheduler.hpp"
#include "cuda-shim/softcuda/driver/launch/context_resources.hpp"

namespace fairgv::cuda::soft {

class Stream;
class StreamGroup;

using Work = std::function<CUresult()>;
/// Tells whether a wait for memory is over. It looks only: it is called often, and with the scheduler's lock.
using Test = std::function<bool()>;
class Operation;
/// Begins an operation's work in its stream's order. Unless this fails, Scheduler::ended() must be called,
/// within this call or later. One at a time per stream.
using Begin = std::function<CUresult(Stream& stream, const std::shared_ptr<Operation>& operation)>;

class Operation final : public cuda::Operation {
 public:
  bool done() const override { return state_.load(std::memory_order_acquire) == kDone; }
  void wait() const override { wait_for(kDone); }
  CUresult result() const override { return result_; }
  Clock::time_point finished_at() const override { return finished_at_; }
  /// The operation was submitted as held: it ends only after let_go().
  bool is_held() const { return is_held_.load(std::memory_order_relaxed); }
  void let_go() { is_held_.store(false, std::memory_order_relaxed); }

 private:
  friend class Scheduler;
  enum State : int { kWaiting, kRunnable, kDone };
  void wait_for(State wanted) const;

  std::shared_ptr<StreamGroup> group_;
  Work work_;
  Test test_;                       // of a wait for memory
  Begin begin_;                     // moved out by the thread that begins it
  std::shared_ptr<Stream> stream_;  // of a begun operation
  bool is_begun_ = false;           // on the device's queue, and not done
  bool is_prompt_ = false;
  /// Relaxed: only the thread that calls let_go() must not wait for the operation.
  std::atomic<bool> is_held_{false};
  std::shared_ptr<Operation> follower_;  // the next in the stream, which may begin once this has begun
  int level_ = 0;
  bool by_caller_ = false;
  bool despite_fault_ = false;
  bool is_programs_ = false;  // a host function, which may wait for anything
  std::size_t waits_for_ = 0;
  std::vector<std::shared_ptr<Operation>> successors_;
  CUresult result_ = CUDA_SUCCESS;
  Clock::time_point finished_at_;
  /// Stored with release by the thread that completes the operation; loaded with acquire by done() and
  /// wait_for().
  std::atomic<int> state_{kWaiting};
};

/// Priorities as the API numbers them: lower runs first (cuCtxGetStreamPriorityRange).
inline constexpr int kLeastPriority = 0;
inline constexpr int kGreatestPriority = -2;

/// One in-order queue. Immutable but for its last operation, which the scheduler's lock guards.
class Stream final : public cuda::Stream {
 public:
  Stream(std::shared_ptr<StreamGroup> group, StreamKind kind, unsigned flags, int priority, std::uint64_t id);

  /// The device's queue for this stream: made and used by Begins.
  std::shared_ptr<void> device_queue;
  /// group() as this engine's class.
  StreamGroup& own_group() const;

 private:
  friend class Scheduler;

  std::shared_ptr<Operation> last_;
  // Guarded by the scheduler's lock, too:
  std::size_t begun_ = 0;                // operations on the device's queue
  std::shared_ptr<Operation> for_room_;  // the next operation, while it waits for room for many
};

/// The streams of one context, and the fault that sticks to it.
class StreamGroup final : public cuda::StreamGroup {
 public:
  explicit StreamGroup(CUcontext owner) : cuda::StreamGroup(owner, kLeastPriority, kGreatestPriority) {}
  CUresult fault() const override { return fault_.load(std::memory_order_acquire); }
  /// The first fault stays.
  void set_fault(CUresult code) {
    CUresult none = CUDA_SUCCESS;
    fault_.compare_exchange_strong(none, code, std::memory_order_acq_rel);
  }
  ContextResources& resources() { return resources_; }

 private:
  friend class Scheduler;
  /// Stored by set_fault() with release, loaded by fault() with acquire.
  std::atomic<CUresult> fault_{CUDA_SUCCESS};
  ContextResources resources_;
  bool gives_up_waits_ = false;  // guarded by the scheduler's lock
  std::shared_ptr<Stream> legacy_;
  std::vector<std::shared_ptr<Stream>> streams_;  // all but the legacy one; guarded by the scheduler's lock
};

class Scheduler {
 public:
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Starts the first executor thread, so that there is always one. CUDA_ERROR_OPERATING_SYSTEM: no thread
  /// can be started.
  CUresult start();
  /// Makes a group and its legacy stream. dissolve() ends the group, once it is idle.
  std::shared_ptr<StreamGroup> make_group(CUcontext owner);
  std::shared_ptr<Stream> legacy(const std::shared_ptr<StreamGroup>& group) const { return group->legacy_; }
  std::shared_ptr<Stream> make_stream(const std::shared_ptr<StreamGroup>& group, StreamKind kind,
                                      unsigned flags, int priority);
  void dissolve(StreamGroup& group);
  /// The stream's work goes on; the stream is forgotten once the work is done (cuStreamDestroy).
  void forget(const std::shared_ptr<Stream>& stream);

  /// Queues work; returns at once. Empty work is a marker: it is done when all operations before it are done.
  /// A result of the work other than CUDA_SUCCESS is a fault of the group. `despite_fault`: the work runs
  /// even in a faulty group. `is_programs`: it is a function of the program's.
  std::shared_ptr<Operation> submit(Stream& stream, Work work,
                                    std::span<const std::shared_ptr<Operation>> behind = {},
                                    bool despite_fault = false, bool is_programs = false);
  /// Queues work that is begun, on this thread if its turn has come. `held`: until let_go(), waits for a
  /// stream or a group do not wait for this operation while it is the last. The thread that is to call
  /// let_go() may have to wait for all other work first: memory is freed behind running work.
  std::shared_ptr<Operation> submit(std::shared_ptr<Stream> stream, Begin begin, bool held = false);
  /// The begun operation has ended; a result other than CUDA_SUCCESS is a fault of the group. Any thread may
  /// call, also a driver's: no other work is begun here.
  void ended(const std::shared_ptr<Operation>& operation, CUresult result);
  /// Whether an operation of the stream is begun and has not ended. Within a Begin of that stream, "no" means
  /// that all operations before it are done.
  bool has_begun(const Stream& stream) const;
  /// Runs a function that is short and calls no CUDA function, as soon as all operations before it are done,
  /// on the thread that ends the last of them (or on this thread). The function gets the group's fault.
  /// Nothing waits for it: a launch behind it is begun as if the function were not there.
  void submit_prompt(Stream& stream, std::function<void(CUresult)> function);
  /// Queues a wait until the test is passed.
  std::shared_ptr<Operation> submit_wait(Stream& stream, Test test);
  /// A test may be passed now: a hint, which saves time.
  void look_at_waits() { waits_changed_.notify_one(); }
  /// Waits of the group whose test is not passed end now or at once, and the group has the fault
  /// CUDA_ERROR_CONTEXT_IS_DESTROYED then.
  void give_up_waits(StreamGroup& group);
  /// Runs work in its turn on the calling thread. Returns the result (which is no fault of the group) or the
  /// group's fault.
  CUresult run(Stream& stream, Work work);

  /// Calls `function` while no work runs that touches the device's memory: what is under way in the groups,
  /// which are all there are, ends before, and what is queued begins afterwards. Functions of the program may
  /// run meanwhile, and a held launch may be under way, whose kernel has not begun.
  void quietly(std::span<const std::shared_ptr<StreamGroup>> groups, const std::function<void()>& function);

  /// Waits for all work that the stream holds now (legacy stream: that of the blocking streams, too). Returns
  /// the fault.
  CUresult synchronize(Stream& stream);
  CUresult synchronize(StreamGroup& group);
  /// CUDA_ERROR_NOT_READY, CUDA_SUCCESS, or the fault.
  CUresult query(Stream& stream);

  /// At the process's end: starts nothing more; waits for running work, at most for the given patience.
  void shutdown(std::chrono::milliseconds patience);

 private:
  using Operations = std::vector<std::shared_ptr<Operation>>;
  static constexpr std::size_t kMaxThreads = 128;
  /// The most operations of one stream on the device's queue at a time: each has memory of its own.
  static constexpr std::size_t kMostBegun = 64;
  /// A full queue is not refilled before it is as short as this, so that one switch of threads serves many
  /// launches.
  static constexpr std::size_t kRoomForMany = kMostBegun / 2;
  static constexpr std::size_t kLevels = std::size_t{kLeastPriority - kGreatestPriority} + 1;

  Operations held_by(const Stream& stream) const;  // with the lock
  void add(Stream& stream, const std::shared_ptr<Operation>& operation,
           std::span<const std::shared_ptr<Operation>> behind);
  std::shared_ptr<Operation> take_follower(Operation& operation, Stream& stream);
  void begin(std::shared_ptr<Operation> operation);
  void enter(std::unique_lock<std::mutex>& guard);
  void leave();
  bool is_at_rest(std::span<const std::shared_ptr<StreamGroup>> groups) const;
  void settle(std::unique_lock<std::mutex>& guard, std::size_t runnable);
  std::size_t make_runnable(std::shared_ptr<Operation> operation);
  std::size_t complete(const std::shared_ptr<Operation>& operation, CUresult result);
  void wake(std::size_t runnable);
  bool is_over(Operation& wait);
  bool is_over_or_watched(const std::shared_ptr<Operation>& wait);
  std::size_t end_waits();
  void watch_waits();
  bool start(void (Scheduler::*run)());
  void start_thread();
  void execute();
  std::shared_ptr<Operation> take_runnable();
  static CUresult perform(const Work& work);

  mutable std::mutex lock_;
  std::condition_variable runnable_changed_;
  std::condition_variable threads_changed_;
  std::condition_variable waits_changed_;
  std::condition_variable quiet_changed_;  // what quietly() waits for, and its end
  std::array<std::deque<std::shared_ptr<Operation>>, kLevels> runnable_;
  std::size_t runnable_count_ = 0;
  Operations prompt_;  // to be run by the thread that releases the lock
  Operations waits_;   // whose turn it is
  bool has_watcher_ = false;
  std::size_t threads_ = 0;
  std::size_t on_device_ = 0;  // operations of all streams on the device's queue
  std::size_t idle_ = 0;
  std::size_t at_work_ = 0;  // threads that touch the device's memory, or begin what does
  bool is_quiet_ = false;
  std::uint64_t next_stream_id_ = 1;
  bool stopping_ = false;
};

inline Stream::Stream(std::shared_ptr<StreamGroup> group, StreamKind kind, unsigned flags, int priority,
                      std::uint64_t id)
    : cuda::Stream(std::move(group), kind, flags, priority, id) {}
inline StreamGroup& Stream::own_group() const {
  return static_cast<StreamGroup&>(*group());
}

}  // namespace fairgv::cuda::soft
