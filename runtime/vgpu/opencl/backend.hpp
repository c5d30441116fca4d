// The OpenCL back end: a handler for every call of the front end (runtime/wire/calls.hpp).
//
// The loop thread's alone. Metadata calls (create, build, query) go to the driver at once and need no turn;
// commands go to the executor. An Error means that the front end broke the protocol; see dispatch.hpp.
#pragma once

#include <CL/cl.h>

#include <memory>

#include "runtime/ring/result.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/vgpu/executor.hpp"
#include "runtime/vgpu/object_table.hpp"
#include "runtime/vgpu/opencl/commands.hpp"
#include "runtime/vgpu/opencl/driver.hpp"
#include "runtime/vgpu/opencl/objects.hpp"
#include "runtime/vgpu/slow_lane.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::vgpu::opencl {

class Backend {
 public:
  /// All three outlive the back end.
  Backend(const Driver& driver, const ring::Segment& segment, Executor& executor)
      : driver_(driver), segment_(segment), executor_(executor) {}

  // query_calls.cpp
  Result<wire::Empty> handle(const wire::Ping&) { return wire::Empty{}; }
  Result<wire::TopologyReply> handle(const wire::GetTopology&);
  Result<wire::InfoReply> handle(const wire::GetPlatformInfo& call);
  Result<wire::InfoReply> handle(const wire::GetDeviceInfo& call);
  Result<wire::InfoReply> handle(const wire::GetProgramBuildInfo& call);
  Result<wire::InfoReply> handle(const wire::GetProgramInfo& call);
  Result<wire::KernelsReply> handle(const wire::DescribeKernels& call);
  Result<wire::InfoReply> handle(const wire::GetKernelWorkGroupInfo& call);
  Result<wire::InfoReply> handle(const wire::GetKernelSubGroupInfo& call);

  // object_calls.cpp
  Result<void> handle(const wire::ReleaseObject& call);
  Result<void> handle(const wire::CreateContext& call);
  Result<void> handle(const wire::CreateQueue& call);
  Result<void> handle(const wire::FlushQueue& call);
  Result<void> handle(const wire::CreateBuffer& call);
  Result<void> handle(const wire::CreateSubBuffer& call);

  // program_calls.cpp
  Result<void> handle(const wire::CreateProgramWithSource& call);
  Result<wire::BinaryReply> handle(const wire::CreateProgramWithBinary& call);
  Result<void> handle(const wire::BuildProgram& call);
  Result<void> handle(const wire::CreateKernel& call);

  // command_calls.cpp
  Result<void> handle(const wire::EnqueueKernel& call);
  Result<void> handle(const wire::EnqueueReadBuffer& call);
  Result<void> handle(const wire::EnqueueWriteBuffer& call);
  Result<void> handle(const wire::EnqueueReadBufferRect& call);
  Result<void> handle(const wire::EnqueueWriteBufferRect& call);
  Result<void> handle(const wire::EnqueueCopyBuffer& call);
  Result<void> handle(const wire::EnqueueCopyBufferRect& call);
  Result<void> handle(const wire::EnqueueFillBuffer& call);
  Result<void> handle(const wire::EnqueueMarker& call);
  Result<void> handle(const wire::EnqueueBarrier& call);
  Result<void> handle(const wire::EnqueueAccess& call);
  Result<void> handle(const wire::EndAccess& call) { return executor_.end_access(call.access); }

  // Events live in the executor.
  Result<void> handle(const wire::CreateUserEvent& call) { return executor_.create_user_event(call.event); }
  Result<void> handle(const wire::SetUserEventStatus& call) {
    return executor_.set_user_event(call.event, call.status);
  }
  Result<void> handle(const wire::WatchEvent& call) { return executor_.watch_event(call.event, call.status); }
  Result<void> handle(const wire::ReleaseEvent& call) { return executor_.release_event(call.event); }

 private:
  /// The driver's id of a device that the front end named.
  Result<cl_device_id> device(wire::DeviceIndex index) const;
  /// Where the range lies in this process; an Error if it is not in the arena, or shorter than `needed`.
  Result<std::byte*> arena(wire::ArenaRange range, std::uint64_t needed) const;

  Result<void> marker(Work work, const wire::Command& command);
  /// Has the event of CreateBuffer::retired end with the buffer.
  Result<void> tell_when_gone(Buffer& buffer, wire::EventId retired);

  /// Queues a transfer that uses `buffers`: enqueue(cl_command_queue, const Waits&) hands it to the driver.
  template <class Enqueue, class... Buffers>
  Result<void> transfer(const wire::Command& command, Enqueue enqueue, const Buffers&... buffers);

  const Driver& driver_;
  const ring::Segment& segment_;
  Executor& executor_;
  ObjectTable<Object> objects_;
  SlowLane slow_lane_;
  /// Ends first: buffers that die with the session tell nobody.
  std::shared_ptr<Executor*> listening_ = std::make_shared<Executor*>(&executor_);
};

}  // namespace fairgv::vgpu::opencl
