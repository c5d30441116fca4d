#include "runtime/vgpu/opencl/programs/trial.hpp"

#include <chrono>
#include <thread>

namespace fairgv::vgpu::opencl {
namespace {

/// A driver that has dropped a command says so at once; this is for one that needs a thread of its own to.
constexpr std::chrono::milliseconds kLongestDrop{100};

/// A queue that nobody else uses, and an event for its commands to wait for.
struct Stage {
  QueueHandle queue;
  EventHandle gate;
  cl_int error = CL_SUCCESS;

  Stage(const Platform& platform, cl_context context, cl_device_id device) {
    queue = make_queue(platform, context, device, 0, error);
    if (error == CL_SUCCESS) gate = EventHandle(clCreateUserEvent(context, &error));
  }
};

/// The status of a command that waits for an event which ends with `failure`; CL_QUEUED if the driver does
/// not tell.
cl_int end_after(const Platform& platform, cl_context context, cl_device_id device, cl_int failure) {
  Stage stage(platform, context, device);
  if (stage.error != CL_SUCCESS) return CL_QUEUED;
  const cl_event gate = stage.gate.get();
  EventHandle marker;
  if (clEnqueueMarkerWithWaitList(stage.queue.get(), 1, &gate, marker.receive()) != CL_SUCCESS) {
    return CL_QUEUED;
  }
  clSetUserEventStatus(gate, failure);
  clFlush(stage.queue.get());  // some drivers look at nothing before
  cl_int status = CL_QUEUED;
  const auto give_up = std::chrono::steady_clock::now() + kLongestDrop;
  for (;;) {
    const cl_int error =
        clGetEventInfo(marker.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
    if (error != CL_SUCCESS) return CL_QUEUED;
    if (status <= CL_COMPLETE) return status;
    if (std::chrono::steady_clock::now() >= give_up) return CL_QUEUED;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace

QueueHandle make_queue(const Platform& platform, cl_context context, cl_device_id device,
                       cl_command_queue_properties properties, cl_int& error) {
  if (!platform.is_2_0) {
// Deprecated, and the only one that an OpenCL 1.x driver has.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return QueueHandle(clCreateCommandQueue(context, device, properties, &error));
#pragma GCC diagnostic pop
  }
  const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
  return QueueHandle(clCreateCommandQueueWithProperties(context, device, list, &error));
}

cl_int try_command(const Platform& platform, const Queue& like, bool runs_after_failure,
                   const std::function<cl_int(cl_command_queue, const Waits&)>& enqueue) {
  Stage stage(platform, like.context->handle.get(), like.device);
  if (stage.error != CL_SUCCESS) return stage.error;
  const cl_event gate = stage.gate.get();
  EventHandle dropped;
  const cl_int answer = enqueue(stage.queue.get(), Waits{1, &gate, dropped.receive()});
  if (answer == CL_SUCCESS && runs_after_failure) {
    // Kept waiting until the worker ends: nothing else keeps it from running.
    stage.gate.give_up();
    stage.queue.give_up();
    dropped.give_up();
    return answer;
  }
  clSetUserEventStatus(gate, -1);
  clFlush(stage.queue.get());  // some drivers look at nothing before
  return answer;
}

FailedWaits::Rule failed_waits_of(const Platform& platform, cl_context context, cl_device_id device) {
  // Two numbers that mean nothing to any driver: a driver that answers with both passes them on.
  const cl_int first = end_after(platform, context, device, -9901);
  const cl_int second = end_after(platform, context, device, -9902);
  if (first == -9901 && second == -9902) return FailedWaits::kPassedOn;
  if (first == CL_COMPLETE && second == CL_COMPLETE) return FailedWaits::kIgnored;
  return first < 0 && first == second ? first : kWaitListFailed;
}

}  // namespace fairgv::vgpu::opencl
