// OpenCL commands as the executor sees them.
#pragma once

#include <CL/cl.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/vgpu/graph/device_command.hpp"
#include "runtime/vgpu/opencl/handles.hpp"
#include "runtime/vgpu/opencl/objects.hpp"
#include "runtime/vgpu/opencl/residency/buffer_block.hpp"
#include "runtime/wire/calls/kernels.hpp"
#include "slicing/launch.hpp"

namespace fairgv::vgpu::opencl {

/// Three numbers as the driver takes them.
inline std::array<std::size_t, 3> sizes(const wire::Extent3& extent) {
  return {extent.x, extent.y, extent.z};
}

/// The last three arguments of every clEnqueue*: the events to wait for, and the place of the new event.
struct Waits {
  cl_uint count;
  const cl_event* list;  // null if count is 0
  cl_event* event;
};

/// The common part of all commands of a queue: the driver's event and its report.
class QueueCommand : public DeviceCommand {
 public:
  QueueCommand(std::shared_ptr<Queue> queue, cl_int error, sched::CommandKind kind)
      : DeviceCommand(queue->lane, error), queue_(std::move(queue)), kind_(kind) {}

  std::int32_t compile(CompletionSink& sink) final;
  std::int32_t issue() final;
  void watch(CompletionSink& sink) final;
  void flush() final { clFlush(queue_->handle.get()); }
  const CommandTimes* times() const final { return has_times_ ? &times_ : nullptr; }
  /// To observers of its event, this command has begun when `first` has, which ends before it. Call it before
  /// the command is queued.
  void begins_with(std::shared_ptr<const QueueCommand> first) { first_ = std::move(first); }
  sched::CommandKind kind() const final { return kind_; }
  /// Notes the objects that it may write.
  virtual void note_writes(WriteLog& log) const = 0;

 private:
  virtual cl_int enqueue(cl_command_queue queue, const Waits& waits) = 0;
  /// It has gone to the driver to be compiled.
  virtual void has_code() {}
  /// Enqueues it behind the commands that it depends on, and behind `start` if that is not null.
  cl_int enqueue_after(cl_event start);
  static void CL_CALLBACK ended(cl_event handle, cl_int status, void* command);
  void read_times(cl_event handle);

  std::shared_ptr<Queue> queue_;
  const sched::CommandKind kind_;
  EventHandle event_;
  CompletionSink* sink_ = nullptr;
  std::unique_ptr<CodeGate> gate_;             // that it went through, or is about to
  bool at_gate_ = false;                       // it waits for issue()
  std::shared_ptr<const QueueCommand> first_;  // see begins_with()
  CommandTimes times_;
  bool has_times_ = false;
};

struct CommandBufferFunctions;

/// The driver's function that enqueues a command, and the one that records it.
template <class Enqueue, class Record>
struct DriverCommand {
  Enqueue* enqueue;
  Record CommandBufferFunctions::*record;
};
// An aggregate's own guide is more than clang 14 knows.
template <class Enqueue, class Record>
DriverCommand(Enqueue*, Record CommandBufferFunctions::*) -> DriverCommand<Enqueue, Record>;

/// Hands a command to a queue of the driver's: `arguments`: the ones between the queue and the wait list.
struct ToQueue {
  cl_command_queue queue;
  const Waits& waits;

  template <class Function, class... Arguments>
  cl_int operator()(Function* function, Arguments... arguments) const {
    return function(queue, arguments..., waits.count, waits.list, waits.event);
  }
  template <class Enqueue, class Record, class... Arguments>
  cl_int operator()(const DriverCommand<Enqueue, Record>& command, Arguments... arguments) const {
    return (*this)(command.enqueue, arguments...);
  }
};

/// Which of its objects a transfer writes: those that it copies to come last.
enum class Writes : std::uint8_t { nothing, the_last };

/// A transfer, copy or fill: `send(const ToQueue&, const Objects&...)` calls the clEnqueue* function.
template <class Send, class... Objects>
class Transfer final : public QueueCommand {
 public:
  Transfer(std::shared_ptr<Queue> queue, cl_int error, sched::CommandKind kind, std::uint64_t bytes,
           Writes writes, Send send, std::shared_ptr<Objects>... objects)
      : QueueCommand(std::move(queue), error, kind),
        bytes_(bytes),
        writes_(writes),
        send_(std::move(send)),
        objects_(std::move(objects)...) {}

  std::uint64_t bytes() const override { return bytes_; }
  void note_writes(WriteLog& log) const override {
    if (writes_ == Writes::the_last) log.note(*std::get<sizeof...(Objects) - 1>(objects_));
  }
  void blocks(std::vector<Block*>& to) const override {
    std::apply([&to](const auto&... object) { (add_block_of(*object, to), ...); }, objects_);
  }

 private:
  cl_int enqueue(cl_command_queue queue, const Waits& waits) final {
    return std::apply(
        [&](const auto&... object) {
          return send_(ToQueue{queue, waits}, *object...);
        },
        objects_);
  }

  const std::uint64_t bytes_;
  const Writes writes_;
  Send send_;
  std::tuple<std::shared_ptr<Objects>...> objects_;
};

template <class Send, class... Objects>
std::shared_ptr<QueueCommand> make_transfer(std::shared_ptr<Queue> queue, sched::CommandKind kind,
                                            std::uint64_t bytes, Writes writes, Send send,
                                            const std::shared_ptr<Objects>&... objects) {
  const cl_int error = first_error(*queue, *objects...);
  return std::make_shared<Transfer<Send, Objects...>>(std::move(queue), error, kind, bytes, writes,
                                                      std::move(send), objects...);
}

/// A kernel launch with the arguments of the moment in which it was enqueued.
class Launch final : public QueueCommand, public SliceableLaunch {
 public:
  struct Range {
    cl_uint dimensions = 0;
    bool has_offset = false;
    bool has_local = false;
    std::array<std::size_t, 3> offset{}, global{}, local{};
    cl_int error = CL_SUCCESS;  // why no driver should be asked
  };

  /// Of a wire::EnqueueKernel or a wire::CheckLaunch.
  template <class Call>
  static Range range_of(const Call& call);
  static sched::CommandKind kind_of(const Kernel& kernel, const Range& range);

  Launch(std::shared_ptr<Queue> queue, std::shared_ptr<Kernel> kernel,
         std::shared_ptr<const ArgumentSet> arguments, const Range& range);

  const Kernel& kernel() const { return *kernel_; }
  const ArgumentSet& arguments() const { return *arguments_; }

  void note_writes(WriteLog& log) const override;
  void blocks(std::vector<Block*>& to) const override;
  bool is_launch() const override { return true; }
  bool compiles_late(bool in_parts) const override;
  std::string_view name() const override { return kernel_->name; }
  std::string_view why_whole() const override;
  slicing::Extent groups() const override;
  SliceableLaunch* sliceable() override { return grid_ ? this : nullptr; }

  const slicing::Launch& grid() const override { return *grid_; }
  Readiness readiness() const override;
  void prepare() override { kernel_->sliced_program->prepare(grid_->dimensions, kernel_->program); }
  void take(const slicing::Box& part) override { part_ = part; }
  void give_up() override;

 private:
  void has_code() override;
  cl_int enqueue(cl_command_queue queue, const Waits& waits) override;
  cl_int enqueue_part(cl_command_queue queue, const Waits& waits);
  Kernel::Sliced& sliced() const { return kernel_->sliced.at(grid_->dimensions - 1); }

  std::shared_ptr<const ArgumentSet> arguments_;
  std::shared_ptr<Kernel> kernel_;
  Range range_;
  cl_uint address_bits_;                 // of the device
  std::optional<slicing::Launch> grid_;  // if it may be cut, as far as the launch itself shows
  std::optional<slicing::Box> part_;     // to be issued next, instead of the whole
  MadeCode* const code_;                 // the program's; null: not to be looked after
};

/// Why no driver should be asked for the launch, or CL_SUCCESS.
cl_int launch_error(const Queue& queue, const Kernel& kernel, const ArgumentSet& arguments,
                    const Launch::Range& range);

/// Whether the driver has made code for such launches: its kernel's program's. Null where the driver makes
/// none late, or cannot be stopped.
MadeCode* code_of(Kernel& kernel, Queue& queue, const Launch::Range& range);

}  // namespace fairgv::vgpu::opencl
