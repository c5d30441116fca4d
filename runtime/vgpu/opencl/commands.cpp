#include "runtime/vgpu/opencl/commands.hpp"

#include "runtime/vgpu/opencl/command_kind.hpp"

#include <vector>

namespace fairgv::vgpu::opencl {

std::int32_t QueueCommand::issue() {
  std::vector<cl_event> list;
  for (const NodePtr& wait : driver_waits()) {
    list.push_back(static_cast<const QueueCommand&>(*wait).event_.get());
  }
  const Waits waits{static_cast<cl_uint>(list.size()), list.empty() ? nullptr : list.data(),
                    event_.receive()};
  return enqueue(queue_->handle.get(), waits);
}

void QueueCommand::watch(CompletionSink& sink) {
  sink_ = &sink;
  if (clSetEventCallback(event_.get(), CL_COMPLETE, &QueueCommand::ended, this) == CL_SUCCESS) return;
  // No driver should refuse; waiting here is slow but right.
  const cl_event handle = event_.get();
  const cl_int error = clWaitForEvents(1, &handle);
  ended(handle, error == CL_SUCCESS ? CL_COMPLETE : error, this);
}

void CL_CALLBACK QueueCommand::ended(cl_event handle, cl_int status, void* command) {
  auto& self = *static_cast<QueueCommand*>(command);
  if (status == CL_COMPLETE && self.lane()->profiling()) self.read_times(handle);
  self.sink_->completed(self, status < 0 ? status : kComplete);
}

void QueueCommand::read_times(cl_event handle) {
  const auto read = [handle](cl_profiling_info what, std::uint64_t otherwise) {
    cl_ulong time = 0;
    const cl_int error = clGetEventProfilingInfo(handle, what, sizeof(time), &time, nullptr);
    return error == CL_SUCCESS ? std::uint64_t{time} : otherwise;
  };
  times_.queued = read(CL_PROFILING_COMMAND_QUEUED, 0);
  times_.submitted = read(CL_PROFILING_COMMAND_SUBMIT, times_.queued);
  times_.started = read(CL_PROFILING_COMMAND_START, times_.submitted);
  times_.ended = read(CL_PROFILING_COMMAND_END, times_.started);
  times_.completed = read(CL_PROFILING_COMMAND_COMPLETE, times_.ended);  // OpenCL 2.0
  has_times_ = true;
}

Launch::Range Launch::range_of(const wire::EnqueueKernel& call) {
  return {.dimensions = call.dimensions,
          .has_offset = call.has_global_offset != 0,
          .has_local = call.has_local_size != 0,
          .offset = sizes(call.global_offset),
          .global = sizes(call.global_size),
          .local = sizes(call.local_size)};
}

sched::CommandKind Launch::kind_of(const Kernel& kernel, const Range& range) {
  return kind_from({kernel.function, range.dimensions, range.global[0], range.global[1], range.global[2],
                    range.local[0], range.local[1], range.local[2]});
}

cl_int Launch::enqueue(cl_command_queue queue, const Waits& waits) {
  const cl_int error = kernel_->on_driver.apply(kernel_->handle.get(), arguments_);
  if (error != CL_SUCCESS) return error;
  return clEnqueueNDRangeKernel(queue, kernel_->handle.get(), range_.dimensions,
                                range_.has_offset ? range_.offset.data() : nullptr, range_.global.data(),
                                range_.has_local ? range_.local.data() : nullptr, waits.count, waits.list,
                                waits.event);
}

}  // namespace fairgv::vgpu::opencl
