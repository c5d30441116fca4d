#include "tests/workloads/support/launcher.hpp"

namespace workloads {
namespace {

Queue createQueue(const Device& device, cl_command_queue_properties properties) {
  cl_int status = CL_SUCCESS;
  Queue queue(clCreateCommandQueue(device.context(), device.id(), properties, &status));
  check(status, "clCreateCommandQueue");
  return queue;
}

double executionMicroseconds(const Event& event) {
  cl_ulong start = 0;
  cl_ulong end = 0;
  check(clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_START, sizeof(start), &start, nullptr),
        "clGetEventProfilingInfo");
  check(clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_END, sizeof(end), &end, nullptr),
        "clGetEventProfilingInfo");
  return static_cast<double>(end - start) / 1e3;
}

}  // namespace

Launcher::Launcher(const Device& device) : device_(device), queue_(createQueue(device, 0)) {}

void Launcher::launch(const Kernel& kernel, Range global, Range local) {
  cl_event event = nullptr;
  check(clEnqueueNDRangeKernel(queue(), kernel.get(), static_cast<cl_uint>(global.size()), nullptr,
                               global.data(), local.data(), 0, nullptr, profiling_ ? &event : nullptr),
        "clEnqueueNDRangeKernel");
  if (profiling_) profiledLaunches_.emplace_back(event);
  ++launches_;
  if (mode_ == SyncMode::kEvery) finish();
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

void Launcher::startProfiling() {
  finish();
  if (!profilingQueue_) profilingQueue_ = createQueue(device_, CL_QUEUE_PROFILING_ENABLE);
  profiling_ = true;
}

std::vector<double> Launcher::stopProfiling() {
  finish();
  profiling_ = false;
  std::vector<double> times;
  for (const Event& event : profiledLaunches_) times.push_back(executionMicroseconds(event));
  profiledLaunches_.clear();
  return times;
}

}  // namespace workloads
