// The worker's loop: waits, reads calls from the request ring, has them handled, and lets the executor run.
//
// One thread, the loop thread, touches the back end's objects, unless another has the helm (see stand_in).
// While the front end is awake and calling, an iteration makes no system call, takes no lock and allocates
// nothing of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/ends/replies.hpp"
#include "runtime/vgpu/executor/helm.hpp"
#include "runtime/vgpu/executor/loop.hpp"

namespace fairgv::vgpu {

/// The processors that commands run on.
enum class Processors {
  our_cpus,    // those that the worker's thread runs on
  other_cpus,  // of this machine
  the_devices_own,
};

class Worker final : public StandIn {
 public:
  /// All three outlive the worker.
  Worker(ring::Segment& segment, Executor& executor, CallHandler& calls, Processors commands_run_on);

  /// Serves the session until it is closed. An Error if the front end broke the protocol: the session is then
  /// closed from this side.
  Result<void> run();

  /// Has the task run between two calls, with the helm and behind earlier ones, as soon as the thread that
  /// has it gets there. Any thread.
  void run_between_calls(std::function<void()> task);

  // ---- a move of the session (move/)

  /// In a task between two calls: has nothing more issued and waits until nothing is under way and
  /// `others_rest`. False if `given_up`, or the session is over.
  bool come_to_rest(const std::function<bool()>& others_rest, const std::function<bool()>& given_up);
  /// The same task's: commands are issued as ever. Also if they were.
  void end_rest();
  Executor::Loop& loop() { return *loop_; }
  /// Of the next call that is read: among all of the session, from 1 on.
  std::uint64_t next_number() const { return next_number_; }
  /// Before run(): another worker has read the calls before it.
  void continue_from(std::uint64_t number) { next_number_ = number; }

  /// For the driver's thread that has just reported the last command of a program that waits for each: serves
  /// the program's next calls, which are to come at once, as far as they are brief, and returns as soon as
  /// the device has work. Then no thread needs to be woken, neither the loop thread to read the calls nor
  /// this thread to run them.
  void stand_in(Helm::Held held) override;

 private:
  /// How many calls are handled before the device is looked after again.
  static constexpr int kCallsPerRound = 32;
  /// So many frees that are due count as never having time.
  static constexpr int kMostFreesDue = 16;
  /// The longest message that is taken from the arena.
  static constexpr std::uint64_t kLongestIndirect = std::uint64_t{1} << 30;

  /// Whether there may be more to read, and which.
  enum class Reads { every_call, brief_calls };
  Result<void> read_calls(Reads which = Reads::every_call);
  void serve_briefly();
  bool run_tasks();
  bool next_is_brief();
  Result<void> handle(const ring::RecordHeader& header, std::span<const std::byte> payload);
  Result<void> handle_indirect(const ring::RecordHeader& header);
  Result<void> handle_copy(const ring::RecordHeader& header, std::span<const std::byte> call);
  bool deadline_passed() const;
  /// Whether there is something to do. With the helm.
  bool ready() const;
  /// Frees nodes that have ended; work that a device with processors of its own waits for comes first.
  void free_if_there_is_time();
  /// Waits awake for a moment; whether there was something to do before it was over.
  bool comes_back();
  /// Lets go of the helm meanwhile.
  Helm::Held wait(Helm::Held held);
  Helm::Held take_helm();
  /// Private memory for a message of so many bytes, aligned to 8.
  std::span<std::byte> scratch(std::size_t bytes);

  ring::Segment& segment_;
  Executor& executor_;
  Executor::Loop* loop_ = nullptr;  // while this has the helm, on whatever thread
  CallHandler& calls_;
  /// A device with processors of its own is given work before anything else is done: the first commands of
  /// many are issued before all are read. On CPUs that cost 4 % with kernels of 50 us, device_cores or not
  /// (docs/results/scheduler.md).
  const bool device_first_;
  ring::RingConsumer requests_;
  Replies replies_;
  ring::SpinBudget budget_;
  ring::SpinBudget budget_at_work_;  // while the device has commands of this session
  std::uint64_t next_number_ = 1;
  std::optional<Error> broken_;  // the front end's breach of the protocol
  bool saturated_ = false;       // no calls are read
  std::mutex tasks_mutex_;       // guards what follows
  std::vector<std::function<void()>> tasks_;
  std::atomic<bool> has_tasks_{false};  // relaxed: a hint
  bool to_loop_ = false;                // the loop thread has to look after the device, or read
  int frees_due_ = 0;                   // not zero: something may have ended; grows while there is no time
  std::vector<std::uint64_t> scratch_;
};

}  // namespace fairgv::vgpu
