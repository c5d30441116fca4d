#include "tests/workloads/support/launcher.hpp"

#include <chrono>
#include <utility>

namespace workloads {
namespace {

Queue create_queue(const Device& device, cl_command_queue_properties properties) {
  cl_int status = CL_SUCCESS;
  Queue queue(clCreateCommandQueue(device.context(), device.id(), properties, &status));
  check(status, "clCreateCommandQueue");
  return queue;
}

cl_ulong profiled(const Event& event, cl_profiling_info when) {
  cl_ulong nanoseconds = 0;
  check(clGetEventProfilingInfo(event.get(), when, sizeof(nanoseconds), &nanoseconds, nullptr),
        "clGetEventProfilingInfo");
  return nanoseconds;
}

// On Linux this is CLOCK_MONOTONIC.
cl_ulong host_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<cl_ulong>(std::chrono::nanoseconds(now).count());
}

}  // namespace

Launcher::Launcher(const Device& device) : device_(device), queue_(create_queue(device, 0)) {}

void Launcher::launch(const Kernel& kernel, Range global, Range local) {
  const cl_ulong start = timing_ ? host_nanoseconds() : 0;
  enqueue(kernel, global, local);
  if (mode_ != SyncMode::kEvery) return;
  finish();
  if (timing_) waits_.push_back({start, host_nanoseconds()});
}

void Launcher::enqueue(const Kernel& kernel, Range global, Range local) {
  cl_event event = nullptr;
  check(clEnqueueNDRangeKernel(queue(), kernel.get(), static_cast<cl_uint>(global.size()), nullptr,
                               global.data(), local.data(), 0, nullptr, profiling_ ? &event : nullptr),
        "clEnqueueNDRangeKernel");
  if (profiling_) profiled_launches_.emplace_back(event);
  ++launches_;
}

void Launcher::copy(const Buffer& from, const Buffer& to, std::size_t bytes) {
  check(clEnqueueCopyBuffer(queue(), from.get(), to.get(), 0, 0, bytes, 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
}

void Launcher::finish() {
  check(clFinish(queue()), "clFinish");
}

Event Launcher::mark() {
  cl_event event = nullptr;
  check(clEnqueueMarkerWithWaitList(queue(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
  Event marker(event);
  check(clFlush(queue()), "clFlush");
  return marker;
}

void Launcher::start_profiling() {
  finish();
  if (!profiling_queue_) profiling_queue_ = create_queue(device_, CL_QUEUE_PROFILING_ENABLE);
  profiling_ = true;
}

std::vector<Execution> Launcher::stop_profiling() {
  finish();
  profiling_ = false;
  std::vector<Execution> executions;
  for (const Event& event : profiled_launches_) {
    executions.push_back(
        {profiled(event, CL_PROFILING_COMMAND_START), profiled(event, CL_PROFILING_COMMAND_END)});
  }
  profiled_launches_.clear();
  return executions;
}

std::vector<Execution> Launcher::stop_timing() {
  timing_ = false;
  return std::exchange(waits_, {});
}

}  // namespace workloads
