// The OpenCL back end: a handler for every call of the front end (runtime/wire/calls.hpp).
//
// The loop thread's alone. Metadata calls (create, build, query) go to the driver at once and need no turn;
// commands go to the executor. An Error means that the front end broke the protocol; see dispatch.hpp.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime/base/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/vgpu/backend/back_end.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/backend/object_table.hpp"
#include "runtime/vgpu/backend/slow_lane.hpp"
#include "runtime/vgpu/executor/executor.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/vgpu/memory/memory_waits.hpp"
#include "runtime/vgpu/opencl/bounds.hpp"
#include "runtime/vgpu/opencl/command_kind.hpp"
#include "runtime/vgpu/opencl/commands.hpp"
#include "runtime/vgpu/opencl/copies.hpp"
#include "runtime/vgpu/opencl/driver/driver.hpp"
#include "runtime/vgpu/opencl/move/moving_objects.hpp"
#include "runtime/vgpu/opencl/objects.hpp"
#include "runtime/wire/calls.hpp"
#include "runtime/wire/extension_signatures.hpp"

namespace fairgv::vgpu::opencl {

class Handlers final : public CallHandler {
 public:
  using Calls = wire::AllCalls;

  Result<void> handle_call(Executor::Loop& loop, Replies& replies, wire::Opcode opcode,
                           std::span<const std::byte> bytes, std::uint64_t tag) override;
  bool is_brief(wire::Opcode opcode) const override;
  MovableObjects* movable() override { return &moving_; }

  /// All three outlive it.
  Handlers(Driver& driver, const ring::Segment& segment, Executor& executor, ServeSettings settings = {})
      : driver_(driver),
        segment_(segment),
        executor_(executor),
        settings_(std::move(settings)),
        objects_(settings_.object_limit),
        failed_waits_known_(driver.platforms().size()),
        memory_waits_(executor, settings_.memory) {
    for (std::size_t i = 0; i < driver.platforms().size(); ++i) {
      failed_waits_.push_back(std::make_shared<FailedWaits>());
    }
  }

  // calls/query.cpp
  Result<wire::Empty> handle(const wire::Ping&) { return wire::Empty{}; }
  Result<wire::TopologyReply> handle(const wire::GetTopology&);
  Result<wire::InfoReply> handle(const wire::GetPlatformInfo& call);
  Result<wire::InfoReply> handle(const wire::GetDeviceInfo& call);
  Result<wire::InfoReply> handle(const wire::GetProgramBuildInfo& call);
  Result<wire::InfoReply> handle(const wire::GetProgramInfo& call);
  Result<wire::KernelsReply> handle(const wire::DescribeKernels& call);
  Result<wire::InfoReply> handle(const wire::GetKernelWorkGroupInfo& call);
  Result<wire::InfoReply> handle(const wire::GetKernelSubGroupInfo& call);

  // calls/device.cpp
  Result<wire::SubDevicesReply> handle(const wire::CreateSubDevices& call);
  Result<void> handle(const wire::ReleaseSubDevice& call);
  Result<wire::TimersReply> handle(const wire::GetTimers& call);

  // calls/object.cpp
  Result<void> handle(const wire::ReleaseObject& call);
  Result<void> handle(const wire::CreateContext& call);
  Result<void> handle(const wire::CreateQueue& call);
  Result<void> handle(const wire::FlushQueue& call);
  Result<void> handle(const wire::CreateBuffer& call);
  Result<void> handle(const wire::CreateSubBuffer& call);

  // calls/memory.cpp
  Result<wire::MemoryReply> handle(const wire::ReserveMemory& call);
  Result<void> handle(const wire::ReturnMemory& call);
  Result<wire::MemoryReply> handle(const wire::GetMemoryLeft& call);
  Result<void> handle(const wire::AwaitMemory& call);

  // calls/program.cpp
  Result<void> handle(const wire::CreateProgramWithSource& call);
  Result<wire::BinaryReply> handle(const wire::CreateProgramWithBinary& call);
  Result<wire::StatusReply> handle(const wire::CreateProgramWithIl& call);
  Result<wire::StatusReply> handle(const wire::CreateProgramWithBuiltInKernels& call);
  Result<wire::StatusReply> handle(const wire::SetSpecializationConstant& call);
  Result<wire::DevicesReply> handle(const wire::GetProgramDevices& call);

  // calls/build.cpp
  Result<void> handle(const wire::ProvideIncludes& call);
  Result<void> handle(const wire::BuildProgram& call);
  Result<void> handle(const wire::CompileProgram& call);
  Result<void> handle(const wire::LinkProgram& call);

  // calls/kernel.cpp
  Result<void> handle(const wire::CreateKernel& call);
  Result<wire::StatusReply> handle(const wire::CheckArgumentSize& call);
  Result<void> handle(const wire::SetKernelArguments& call);

  // calls/command.cpp
  Result<void> handle(const wire::EnqueueKernel& call);
  Result<void> handle(const wire::EnqueueMarker& call);
  Result<void> handle(const wire::EnqueueBarrier& call);
  Result<void> handle(const wire::EnqueueMark& call);
  Result<void> handle(const wire::EnqueueNothing& call);
  Result<void> handle(const wire::EnqueueAccess& call);
  Result<void> handle(const wire::EnqueueHostWork& call);
  Result<void> handle(const wire::EndAccess& call) { return executor_.end_access(call.access); }

  // calls/transfer.cpp
  Result<void> handle(const wire::EnqueueReadBuffer& call);
  Result<void> handle(const wire::EnqueueWriteBuffer& call);
  Result<void> handle(const wire::EnqueueReadBufferRect& call);
  Result<void> handle(const wire::EnqueueWriteBufferRect& call);
  Result<void> handle(const wire::EnqueueReadImage& call);
  Result<void> handle(const wire::EnqueueWriteImage& call);

  // calls/copy.cpp
  Result<void> handle(const wire::EnqueueCopyBuffer& call);
  Result<void> handle(const wire::EnqueueCopyBufferRect& call);
  Result<void> handle(const wire::EnqueueFillBuffer& call);
  Result<void> handle(const wire::EnqueueCopyImage& call);
  Result<void> handle(const wire::EnqueueCopyImageToBuffer& call);
  Result<void> handle(const wire::EnqueueCopyBufferToImage& call);
  Result<void> handle(const wire::EnqueueFillImage& call);

  // calls/image.cpp
  Result<wire::InfoReply> handle(const wire::GetSupportedImageFormats& call);
  Result<void> handle(const wire::CreateImage& call);
  Result<wire::StatusReply> handle(const wire::CreateImageFromMemory& call);
  Result<void> handle(const wire::CreateSampler& call);
  Result<void> handle(const wire::CreatePipe& call);

  // calls/command_buffer.cpp
  Result<void> handle(const wire::CreateCommandBuffer& call);
  Result<void> handle(const wire::RecordBarrier& call);
  Result<void> handle(const wire::RecordCopyBuffer& call);
  Result<void> handle(const wire::RecordCopyBufferRect& call);
  Result<void> handle(const wire::RecordFillBuffer& call);
  Result<void> handle(const wire::RecordKernel& call);
  Result<wire::StatusReply> handle(const wire::RecordCopyBufferToImage& call);
  Result<wire::StatusReply> handle(const wire::RecordCopyImage& call);
  Result<wire::StatusReply> handle(const wire::RecordCopyImageToBuffer& call);
  Result<wire::StatusReply> handle(const wire::RecordFillImage& call);
  Result<wire::StatusReply> handle(const wire::FinalizeCommandBuffer& call);
  Result<void> handle(const wire::EnqueueCommandBuffer& call);

  // calls/question.cpp
  Result<wire::DevicesReply> handle(const wire::GetDevicesOfType& call);
  Result<wire::StatusReply> handle(const wire::CheckQueue& call);
  Result<wire::StatusReply> handle(const wire::CheckHostMemory& call);
  Result<wire::StatusReply> handle(const wire::CheckEmptyCommand& call);
  Result<wire::StatusReply> handle(const wire::CheckSubBuffer& call);
  Result<wire::StatusReply> handle(const wire::CheckReleaseCallback& call);
  Result<wire::StatusReply> handle(const wire::CheckLaunch& call);
  Result<void> handle(const wire::SetUserEventStatus& call);

  // calls/extension.cpp
  Result<wire::StatusReply> handle(const wire::FindExtensionFunction& call);
  Result<wire::ExtensionReply> handle(const wire::CallExtension& call);

  // Events live in the executor.
  Result<void> handle(const wire::CreateUserEvent& call) { return executor_.create_user_event(call.event); }
  Result<void> handle(const wire::WatchEvent& call) { return executor_.watch_event(call.event, call.status); }
  Result<void> handle(const wire::ReleaseEvent& call) { return executor_.release_event(call.event); }

 private:
  /// The driver's id of a device that the front end named.
  Result<cl_device_id> device(wire::DeviceIndex index) const;
  /// The platform of the device that a queue is on.
  const Platform& platform_of(const Queue& queue) const;
  /// Asks a driver, by one of its devices and once per driver, how commands end that wait for a failed event.
  void learn_failed_waits(wire::PlatformIndex platform, cl_device_id device);
  /// A program by its id; a finished link's result is in it.
  Result<std::shared_ptr<Program>> program(wire::ObjectId id) const;
  /// Runs `job` on the slow lane; `completion` ends with the CL code that the job returns.
  template <class Job>
  Result<void> run_build(wire::EventId completion, Job job);
  /// Where the range lies in this process; an Error if it is not in the arena, or shorter than `needed`.
  Result<std::byte*> arena(wire::ArenaRange range, std::uint64_t needed) const;

  /// The function of that name of the driver on which the platform's devices lie, or nullptr; an Error if
  /// there is no such platform.
  Result<void*> extension_function(wire::PlatformIndex platform, std::string_view name) const;
  /// The driver's handle for an object that an extension's function is called with; see FindHandle.
  Result<void*> driver_handle(wire::ParameterKind kind, std::uint64_t name, cl_int& poison) const;

  /// The rewritten program that makes the program's launches sliceable; null if nothing can.
  std::shared_ptr<SlicedProgram> sliced_program(const Program& program);

  Result<void> marker(Work work, const wire::Command& command);
  /// Charges an object with memory of its own before the driver is asked for it; an object that may not be
  /// made is poisoned.
  template <class Made>
  Result<void> charge(Made& object, std::uint64_t bytes, bool front_end_hears);
  /// Lends the memory of the context's device; null if nobody does, or if there are several devices.
  Residency* lender_of(const Context& context) const;
  /// The object's memory is in no block.
  template <class Made>
  void note_other(Made& object, std::uint64_t bytes);
  /// The buffer in whose part of the arena the range lies, or null.
  std::shared_ptr<Buffer> owner_of(wire::ArenaRange range) const;

  /// Makes the event of CreateBuffer::retired end with the buffer.
  Result<void> tell_when_gone(Buffer& buffer, wire::EventId retired);

  /// The kernel of a launch, with the arguments that came with the call.
  Result<std::shared_ptr<Kernel>> launched(const wire::EnqueueKernel& call);

  /// Records a command that uses `objects`: record(CommandBuffer&, const RecordWaits&) hands it to the
  /// driver. Returns the driver's answer, or the error of a poisoned object.
  template <class Record, class... Objects>
  Result<cl_int> record(const wire::Recording& recording, Record record, const Objects&... objects);
  /// For commands whose sender does not wait: a refusal poisons the buffer, and the command counts
  /// nevertheless.
  Result<void> recorded(const wire::Recording& recording, Result<cl_int> outcome);

  template <class Enqueued>
  Result<cl_int> record_copy(const wire::Recorded<Enqueued>& call);

  /// Queues a command that uses `objects`: send(const ToQueue&, const Objects&...) hands it to the driver.
  template <class Call, class Send, class... Objects>
  Result<void> enqueue(const Call& call, Send send, const std::shared_ptr<Objects>&... objects);
  template <class Call, class Send, class... Objects>
  Result<void> enqueue(const Call& call, Copy<Send, Objects...> copy);

  /// Reads or writes of bytes or of a rectangle of a buffer, of a box of an image; `range` is the arena's
  /// side.
  template <class Function, class Call>
  Result<void> transfer_bytes(Function* function, const Call& call, wire::ArenaRange range);
  template <class Function, class Call>
  Result<void> transfer_rect(Function* function, const Call& call, wire::ArenaRange range);
  template <class Function, class Call>
  Result<void> transfer_box(Function* function, const Call& call, wire::ArenaRange range);

  static constexpr const char* kBeyondBounds = "it goes beyond the memory objects that it uses";

  /// All objects that a command uses; an Error if an id names no such object.
  template <class... Objects>
  Result<std::tuple<std::shared_ptr<Objects>...>> find(const std::tuple<Use<Objects>...>& uses) const;

  Driver& driver_;
  const ring::Segment& segment_;
  Executor& executor_;
  const ServeSettings settings_;
  ObjectTable<Object> objects_;
  std::vector<std::shared_ptr<FailedWaits>> failed_waits_;  // by platform
  std::vector<std::uint8_t> failed_waits_known_;            // by platform; 0 or 1
  bool has_failed_events_ = false;                          // the program has set one to an error
  static constexpr std::uint32_t kMostKept = 256;
  std::uint32_t commands_kept_ = 0;  // by a driver that was asked about them and does not drop them
  std::string changed_by_;           // the extension's function that has changed an object's state
  Gates gates_;
  MemoryWaits memory_waits_;  // ends first: what objects release then is nobody's to wait for
  SlowLane slow_lane_{[this](bool at_work) { executor_.compiles(at_work); }};
  MovingObjects moving_{{driver_, segment_, objects_, journal(), slow_lane_, memory_waits_, settings_.memory,
                         has_failed_events_, changed_by_}};
  /// Ends first: buffers that die with the session tell nobody.
  std::shared_ptr<Executor*> listening_ = std::make_shared<Executor*>(&executor_);
};

template <class... Objects>
Result<std::tuple<std::shared_ptr<Objects>...>> Handlers::find(
    const std::tuple<Use<Objects>...>& uses) const {
  std::tuple<std::shared_ptr<Objects>...> found;
  Result<void> outcome;
  const auto look_up = [&](const auto& use, auto& object) {
    auto got = objects_.get<typename std::decay_t<decltype(object)>::element_type>(use.id);
    if (got) object = std::move(got).value();
    if (!got && outcome) outcome = got.error();
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (look_up(std::get<i>(uses), std::get<i>(found)), ...);
  }
  (std::index_sequence_for<Objects...>{});
  if (!outcome) return outcome.error();
  return found;
}

template <class Call, class Send, class... Objects>
Result<void> Handlers::enqueue(const Call& call, Send send, const std::shared_ptr<Objects>&... objects) {
  FAIRGV_TRY(queue, objects_.get<Queue>(call.command.queue));
  const std::uint64_t bytes = size_of(call) * element_bytes(*objects...);  // bounds were checked: it fits
  constexpr Writes kWrites = requires {
    call.to;
  }
  ? Writes::nothing : Writes::the_last;
  return executor_.enqueue(
      make_transfer(std::move(queue).value(), kind_of(call), bytes, kWrites, std::move(send), objects...),
      call.command.completion, call.command.wait_list);
}

template <class Call, class Send, class... Objects>
Result<void> Handlers::enqueue(const Call& call, Copy<Send, Objects...> copy) {
  FAIRGV_TRY(objects, find(copy.uses));
  const auto send = [&](const auto&... object) -> Result<void> {
    if (!fits(call, *object...)) return Error{kBeyondBounds};
    return enqueue(call, std::move(copy.send), object...);
  };
  return std::apply(send, objects.value());
}

}  // namespace fairgv::vgpu::opencl
