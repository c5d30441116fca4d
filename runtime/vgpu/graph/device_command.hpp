// The executor's view of a back end: a command that can be handed to a driver, and the place where its end is
// reported. This is the whole interface between the scheduler's side of the worker and OpenCL (or CUDA).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/session/turn_wait.hpp"
#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/vgpu/graph/event_table.hpp"
#include "sched/command_history.hpp"
#include "slicing/launch.hpp"

namespace fairgv::vgpu {

class Block;
class DeviceCommand;

/// Takes the reports of drivers.
class CompletionSink {
 public:
  /// The command has ended with `status` (CL_COMPLETE or an error). Call once for every watched command, from
  /// any thread, with no lock of the driver held that issue() takes: other commands may be issued before it
  /// returns. While another thread has the sink, the end is left to that thread, which may act on it later.
  /// Afterwards the command may be gone.
  virtual void completed(DeviceCommand& command, std::int32_t status) = 0;

  /// The code that DeviceCommand::compile() asked for is made, or could not be made: issue() and watch() will
  /// tell. Call once, from a thread of the driver's that then waits for issue() and runs the command.
  virtual void compiled(DeviceCommand& command) = 0;

 protected:
  ~CompletionSink() = default;
};

/// A launch that can be run in parts, one after the other (docs/SLICING.md).
class SliceableLaunch {
 public:
  virtual const slicing::Launch& grid() const = 0;

  /// Cutting takes a program of its own, which is made when it is needed for the first time.
  enum class Readiness {
    unprepared,
    in_preparation,
    ready,
    impossible,  // it must run whole
  };
  /// Any thread's, with the executor's lock held.
  virtual Readiness readiness() const = 0;
  /// Has an unprepared launch prepared: returns at once, and calls Executor::reconsider() when it is done.
  /// The loop thread's, as all that follows.
  virtual void prepare() = 0;

  /// The next issue() of the command runs this part. Everything that it had to wait for has ended.
  virtual void take(const slicing::Box& part) = 0;
  /// The driver did not take the first part: it is impossible from now on, and the next issue() runs the
  /// whole.
  virtual void give_up() = 0;

 protected:
  ~SliceableLaunch() = default;
};

/// A kernel launch, a copy, a fill. Made, issued and destroyed on the loop thread; it keeps alive what it
/// uses.
class DeviceCommand : public Node {
 public:
  DeviceCommand(std::shared_ptr<Lane> lane, std::int32_t error)
      : Node(Work::device, std::move(lane), error) {}

  /// Hands the command to the driver, to run after driver_waits() have ended, and returns at once: 0 or the
  /// driver's error. An in-order lane's commands are issued in order.
  virtual std::int32_t issue() = 0;

  /// Whether the driver may still have to make machine code when it comes to run this, which may take
  /// minutes, and can be stopped between the two. `in_parts`: asks about the program that runs its parts.
  virtual bool compiles_late(bool in_parts) const {
    (void)in_parts;
    return false;
  }

  /// Hands the command to the driver, where it stops before it runs, and returns at once: 0, and
  /// `sink.compiled()` comes; or the driver's error, and nothing was handed over. Everything that it depends
  /// on has ended. The issue() that follows lets it run.
  virtual std::int32_t compile(CompletionSink& sink) {
    (void)sink;
    return 0;
  }

  /// Asks for `sink.completed()`, which may come before this returns. Only after issue() succeeded.
  virtual void watch(CompletionSink& sink) = 0;

  /// Makes sure that the driver begins with what was issued to this command's queue.
  virtual void flush() = 0;

  /// Device times, or null if the queue has none. Only once the command was reported complete.
  virtual const CommandTimes* times() const = 0;

  virtual bool is_launch() const { return false; }

  /// The bytes that a read, write, copy or fill is to move; 0 for launches and replays.
  virtual std::uint64_t bytes() const { return 0; }

  /// Work-groups of a launch by dimension; zeros: unknown, or no launch.
  virtual slicing::Extent groups() const { return {}; }

  /// The command as a launch that can be run in parts, or null.
  virtual SliceableLaunch* sliceable() { return nullptr; }

  /// The name that people know, and why the command cannot be run in parts. Both live as long as the command.
  virtual std::string_view name() const { return "(transfer)"; }
  virtual std::string_view why_whole() const { return "only kernel launches can be sliced"; }

  /// Adds the blocks of memory that it uses, where a device's memory is lent (residency/block.hpp).
  virtual void blocks(std::vector<Block*>& to) const { (void)to; }

  /// Commands of the same kind are expected to keep the device busy for the same time.
  virtual sched::CommandKind kind() const = 0;

  /// The return value of issue(); the loop thread's.
  std::int32_t issue_error = 0;
  /// Not 0: memory that it uses cannot be on the device, and it ends with this error instead of being issued.
  std::int32_t memory_error = 0;
  // The executor's (and its lock's).
  /// It runs in parts.
  bool cut = false;
  /// Of its first work-groups, so many have been run in parts, by this worker or another: it must not run
  /// whole.
  std::uint64_t begun = 0;
  /// When it was handed to the driver.
  std::chrono::steady_clock::time_point issued_at{};
  /// Why it was not handed to the driver before: the last reason, if any.
  session::TurnWait waited_for = session::TurnWait::nothing;
};

}  // namespace fairgv::vgpu
