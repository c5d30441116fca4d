// The CUDA back end: a handler for every call of the CUDA front end (runtime/wire/cuda_calls.hpp).
//
// The loop thread's alone. Metadata calls go to the driver at once and need no turn; commands go to the
// executor. An Error means that the front end broke the protocol; see dispatch.hpp. A failure in the driver
// is told in the reply or, late, by LateErrors.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/vgpu/backend/back_end.hpp"
#include "runtime/vgpu/backend/object_table.hpp"
#include "runtime/vgpu/backend/slow_lane.hpp"
#include "runtime/vgpu/cuda/address_ranges.hpp"
#include "runtime/vgpu/cuda/allocations.hpp"
#include "runtime/vgpu/cuda/commands.hpp"
#include "runtime/vgpu/cuda/end_watcher.hpp"
#include "runtime/vgpu/cuda/late_errors.hpp"
#include "runtime/vgpu/cuda/move/moving_objects.hpp"
#include "runtime/vgpu/cuda/objects.hpp"
#include "runtime/vgpu/cuda/places.hpp"
#include "runtime/vgpu/cuda/word_watcher.hpp"
#include "runtime/vgpu/executor/executor.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/vgpu/memory/memory_waits.hpp"
#include "runtime/wire/cuda_calls.hpp"

namespace fairgv::vgpu::cuda {

class Handlers final : public CallHandler {
 public:
  using Calls = wire::cuda::AllCalls;

  /// All three outlive it.
  Handlers(Driver& driver, const ring::Segment& segment, Executor& executor, ServeSettings settings)
      : driver_(driver),
        segment_(segment),
        executor_(executor),
        settings_(std::move(settings)),
        late_errors_(segment.header().late_error),
        objects_(settings_.object_limit),
        memory_waits_(executor, settings_.memory) {
    if (functions().add_callback == nullptr) ends_.emplace(functions());
  }

  Result<void> handle_call(Executor::Loop& loop, Replies& replies, wire::Opcode opcode,
                           std::span<const std::byte> bytes, std::uint64_t tag) override {
    allocations_->lent().settle();
    return dispatch(*this, loop, replies, opcode, bytes, tag);
  }
  MovableObjects* movable() override { return &moving_; }
  // A driver's callbacks must not call it.
  bool is_brief(wire::Opcode) const override { return false; }

  // calls/context.cpp
  Result<wire::Empty> handle(const wire::Ping&) { return wire::Empty{}; }
  Result<wire::cuda::DevicesReply> handle(const wire::cuda::GetDevices& call);
  Result<wire::cuda::ContextReply> handle(const wire::cuda::CreateContext& call);
  Result<wire::cuda::LimitReply> handle(const wire::cuda::GetLimit& call);
  Result<wire::cuda::LimitReply> handle(const wire::cuda::SetLimit& call);
  Result<void> handle(const wire::cuda::CreateStream& call);
  Result<void> handle(const wire::ReleaseObject& call);

  // calls/module.cpp
  Result<void> handle(const wire::cuda::LoadModule& call);
  Result<wire::cuda::ModuleReply> handle(const wire::cuda::GetModule& call);
  Result<wire::cuda::NamesReply> handle(const wire::cuda::GetFunctionNames& call);
  Result<wire::cuda::AddressReply> handle(const wire::cuda::GetGlobal& call);
  Result<void> handle(const wire::cuda::Link& call);
  Result<wire::cuda::LinkedReply> handle(const wire::cuda::GetLinked& call);

  // calls/function.cpp
  Result<wire::cuda::FunctionReply> handle(const wire::cuda::GetFunction& call);
  Result<wire::cuda::CodeReply> handle(const wire::cuda::SetFunctionAttribute& call);
  Result<wire::cuda::OccupancyReply> handle(const wire::cuda::GetOccupancy& call);
  Result<void> handle(const wire::cuda::Launch& call);

  // calls/memory.cpp
  Result<wire::cuda::AllocationReply> handle(const wire::cuda::AllocateMemory& call);
  Result<void> handle(const wire::cuda::FreeMemory& call);
  Result<void> handle(const wire::cuda::EnqueueFreeMemory& call);
  Result<wire::cuda::SettledReply> handle(const wire::cuda::SettleFrees& call);
  Result<wire::cuda::MemoryInfoReply> handle(const wire::cuda::GetMemoryInfo& call);
  Result<wire::cuda::AllocationReply> handle(const wire::cuda::PinArena& call);
  Result<void> handle(const wire::cuda::UnpinArena& call);
  Result<void> handle(const wire::AwaitMemory& call) { return memory_waits_.await(loop(), call); }

  // calls/array.cpp
  Result<wire::cuda::CodeReply> handle(const wire::cuda::CreateArray& call);
  Result<wire::cuda::CodeReply> handle(const wire::cuda::CreateMipmap& call);
  Result<void> handle(const wire::cuda::NameLevel& call);

  // calls/ranges.cpp
  Result<wire::cuda::GranularityReply> handle(const wire::cuda::GetGranularity& call);
  Result<wire::cuda::RangeReply> handle(const wire::cuda::ReserveRange& call);
  Result<wire::cuda::CodeReply> handle(const wire::cuda::FreeRange& call);
  Result<wire::cuda::PhysicalReply> handle(const wire::cuda::CreatePhysical& call);
  Result<void> handle(const wire::cuda::ReleasePhysical& call);
  Result<wire::cuda::CodeReply> handle(const wire::cuda::MapPhysical& call);
  Result<wire::cuda::CodeReply> handle(const wire::cuda::UnmapRange& call);
  Result<wire::cuda::CodeReply> handle(const wire::cuda::SetAccess& call);

  // calls/texture.cpp
  Result<wire::cuda::TextureReply> handle(const wire::cuda::CreateTexture& call);
  Result<wire::cuda::TextureReply> handle(const wire::cuda::CreateSurface& call);

  // calls/copy.cpp
  Result<void> handle(const wire::cuda::Copy& call);
  Result<void> handle(const wire::cuda::Fill& call);
  Result<void> handle(const wire::cuda::WriteWord& call);

  // calls/word.cpp
  Result<void> handle(const wire::cuda::WaitForWord& call);
  Result<void> handle(const wire::cuda::GiveUpWaits& call);

  // calls/ipc.cpp
  Result<wire::cuda::ExportReply> handle(const wire::cuda::ExportMemory& call);
  Result<wire::cuda::OpenedReply> handle(const wire::cuda::OpenMemory& call);
  Result<void> handle(const wire::cuda::CloseMemory& call);

  // calls/command.cpp
  Result<void> handle(const wire::FlushQueue& call);
  Result<void> handle(const wire::EnqueueMarker& call);
  Result<void> handle(const wire::EnqueueBarrier& call);
  Result<void> handle(const wire::EnqueueHostWork& call);
  Result<void> handle(const wire::EndAccess& call) { return executor_.end_access(call.access); }

  // Events live in the executor.
  Result<void> handle(const wire::CreateUserEvent& call) { return executor_.create_user_event(call.event); }
  Result<void> handle(const wire::SetUserEventStatus& call) {
    return executor_.set_user_event(call.event, call.status);
  }
  Result<void> handle(const wire::WatchEvent& call) { return executor_.watch_event(call.event, call.status); }
  Result<void> handle(const wire::ReleaseEvent& call) { return executor_.release_event(call.event); }

 private:
  const Functions& functions() const { return driver_.functions(); }
  std::vector<const Device*> devices() const;
  Result<const Device*> device_at(std::uint32_t ordinal) const;
  /// A call's stream, ready for a command.
  Result<std::shared_ptr<Stream>> stream(wire::ObjectId id) const { return objects_.get<Stream>(id); }
  /// Queues a node of the stream's lane, where the default stream's order wants it.
  Result<void> enqueue(Stream& stream, const NodePtr& node, const wire::Command& command);
  /// A marker, or anything else that never reaches the driver.
  Result<void> enqueue_marker(Work work, const wire::Command& command);
  /// A copy or a fill, handed over by send(functions, stream). `bytes`: about how many.
  template <class Send>
  Result<void> enqueue_transfer(const wire::Command& command, std::uint64_t number, std::uint64_t bytes,
                                Send send, std::vector<std::shared_ptr<const Object>> keeps);

  /// Has `job` run on the slow lane; `completion` ends well afterwards.
  template <class Job>
  Result<void> run_slowly(wire::EventId completion, Job job);

  /// Where the range lies in this process; an Error if it is not in the arena.
  Result<std::byte*> arena(std::uint64_t offset, std::uint64_t bytes) const;

  /// Charges an object or an allocation before the driver is asked for it. Nothing: it may not be made.
  Result<std::optional<MemoryCharge>> charge(const Device& device, std::uint64_t bytes);
  Result<std::optional<MemoryCharge>> charge(const Context& context, std::uint64_t bytes) {
    return charge(context.device, bytes);
  }

  Driver& driver_;
  const ring::Segment& segment_;
  Executor& executor_;
  const ServeSettings settings_;
  LateErrors late_errors_;
  std::optional<EndWatcher> ends_;  // none: the driver calls back
  std::map<CUdevice, std::weak_ptr<Context>> primary_contexts_;
  const std::shared_ptr<Allocations> allocations_ = std::make_shared<Allocations>(functions());
  PinnedParts pinned_;
  AddressRanges ranges_{functions(), settings_.object_limit};
  ObjectTable<Object> objects_;
  Places places_;
  MemoryWaits memory_waits_;  // ends first: what objects release then is nobody's to wait for
  WordWatcher words_{functions(), executor_, late_errors_};
  SlowLane slow_lane_{[this](bool at_work) { executor_.compiles(at_work); }};
  MovingObjects moving_{{driver_, segment_, objects_, journal(), slow_lane_, memory_waits_, settings_.memory,
                         *allocations_, pinned_, ranges_, places_, late_errors_, words_}};
};

}  // namespace fairgv::vgpu::cuda
