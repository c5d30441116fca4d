#include "tests/workloads/support/launcher.hpp"

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

class EventMark : public Mark {
 public:
  explicit EventMark(Event event) : event_(std::move(event)) {}
  void wait() override {
    const cl_event event = event_.get();
    check(clWaitForEvents(1, &event), "clWaitForEvents");
  }

 private:
  const Event event_;
};

}  // namespace

Launcher::Launcher(const Device& device) : device_(device), queue_(create_queue(device, 0)) {}

void Launcher::launch(const Kernel& kernel, Range global, Range local) {
  count_launch([&] { enqueue(kernel, global, local); });
}

void Launcher::enqueue(const Kernel& kernel, Range global, Range local) {
  cl_event event = nullptr;
  check(clEnqueueNDRangeKernel(queue(), kernel.get(), static_cast<cl_uint>(global.size()), nullptr,
                               global.data(), local.data(), 0, nullptr, profiling_ ? &event : nullptr),
        "clEnqueueNDRangeKernel");
  if (profiling_) profiled_launches_.emplace_back(event);
}

void Launcher::copy(const Buffer& from, const Buffer& to, std::size_t bytes) {
  check(clEnqueueCopyBuffer(queue(), from.get(), to.get(), 0, 0, bytes, 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
}

void Launcher::finish() {
  check(clFinish(queue()), "clFinish");
}

std::unique_ptr<Mark> Launcher::mark() {
  cl_event event = nullptr;
  check(clEnqueueMarkerWithWaitList(queue(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
  auto marker = std::make_unique<EventMark>(Event(event));
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

}  // namespace workloads
