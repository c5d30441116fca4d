// Events that fail, and functions that are called when an event ends.
#include <array>
#include <atomic>

#include "tests/integration/behaviours/behaviour.hpp"

namespace fairgv::behaviours {
namespace {

constexpr std::size_t kEventBytes = 4096;

/// The fate of commands that wait for a user event which ends with `failure`, and of the commands behind
/// them.
std::string chain(const Stage& stage, cl_int failure) {
  const cl_event gate = stage.user_event();
  const cl_mem buffer = stage.buffer(kEventBytes);
  const cl_kernel kernel =
      stage.kernel("kernel void k(global uint* out) { out[get_global_id(0)] = 1; }", "k");
  clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
  const std::size_t items = 64;
  const cl_uint pattern = 5;
  static std::array<char, kEventBytes> host;
  cl_int error = CL_SUCCESS;
  cl_command_queue queue =
      clCreateCommandQueue(stage.context, stage.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
  if (error != CL_SUCCESS) queue = stage.queue;
  cl_event marker = nullptr, launch = nullptr, fill = nullptr, read = nullptr, second = nullptr;
  clEnqueueMarkerWithWaitList(queue, 1, &gate, &marker);
  clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 1, &gate, &launch);
  clEnqueueFillBuffer(queue, buffer, &pattern, sizeof(pattern), 0, kEventBytes, 1, &gate, &fill);
  clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, kEventBytes, host.data(), 1, &gate, &read);
  clEnqueueMarkerWithWaitList(queue, 1, &launch, &second);
  clFlush(queue);
  Answer answer;
  answer.add("set", clSetUserEventStatus(gate, failure));
  answer.add("marker", end_of(marker)).add("launch", end_of(launch)).add("fill", end_of(fill));
  answer.add("read", end_of(read)).add("second", end_of(second));
  answer.add("wait for the event", clWaitForEvents(1, &gate));
  // Intel's driver answers -14 for a command that it has run after all.
  if (end_of(launch) < 0) answer.add("wait for the launch", clWaitForEvents(1, &launch));
  return answer;
}

std::string blocking_read(const Stage& stage) {
  const cl_event gate = stage.user_event();
  clSetUserEventStatus(gate, -7);
  std::array<char, 64> host{};
  const cl_int error = clEnqueueReadBuffer(stage.queue, stage.buffer(kEventBytes), CL_TRUE, 0, 64,
                                           host.data(), 1, &gate, nullptr);
  return Answer().add("read", error);
}

std::string enqueue_after_failure(const Stage& stage) {
  const cl_event gate = stage.user_event();
  clSetUserEventStatus(gate, -7);
  cl_event marker = nullptr;
  const cl_int error = clEnqueueMarkerWithWaitList(stage.queue, 1, &gate, &marker);
  Answer answer;
  answer.add("enqueue", error);
  if (error != CL_SUCCESS) return answer;
  clFlush(stage.queue);
  const cl_int end = end_of(marker);
  return end > CL_COMPLETE ? anything("the command never ends") : std::string(answer.add("end", end));
}

std::string set_twice(const Stage& stage) {
  const cl_event gate = stage.user_event();
  Answer answer;
  answer.add("first", clSetUserEventStatus(gate, CL_COMPLETE));
  return answer.add("second", clSetUserEventStatus(gate, -5));
}

/// Whether functions have been called for events that a finish has waited for. If one of the drivers may say
/// "sometimes", the others are not compared.
std::string called_before_finish(const Stage& stage, bool waits_before) {
  constexpr int kRounds = 300;
  static std::atomic<int> called{0};
  const cl_mem buffer = stage.buffer(kEventBytes);
  const cl_uint pattern = 5;
  int late = 0;
  for (int round = 1; round <= kRounds; ++round) {
    cl_event event = nullptr;
    clEnqueueFillBuffer(stage.queue, buffer, &pattern, sizeof(pattern), 0, kEventBytes, 0, nullptr, &event);
    clSetEventCallback(
        event, CL_COMPLETE, [](cl_event, cl_int, void*) { called.fetch_add(1); }, nullptr);
    if (waits_before) clWaitForEvents(1, &event);
    clFinish(stage.queue);
    if (called.load() != round) ++late;
    while (called.load() != round) {
    }
    clReleaseEvent(event);
  }
  return late == 0 ? "always" : anything("sometimes later");
}

std::string callback_for(const Stage& stage, cl_int status) {
  const cl_event gate = stage.user_event();
  return Answer().add("set", clSetEventCallback(
                                 gate, status, [](cl_event, cl_int, void*) {}, nullptr));
}

}  // namespace

std::vector<Question> events() {
  return {
      {"commands that wait for an event that fails with -7", [](auto& s) { return chain(s, -7); }},
      {"commands that wait for an event that fails with -1", [](auto& s) { return chain(s, -1); }},
      {"commands that wait for an event that fails with -4321", [](auto& s) { return chain(s, -4321); }},
      {"blocking read after an event that failed", blocking_read, "read -14"},
      {"command after an event that failed", enqueue_after_failure},
      {"user event set twice", set_twice},
      {"functions called when a finish returns", [](auto& s) { return called_before_finish(s, false); }},
      {"functions called when a wait and a finish return",
       [](auto& s) { return called_before_finish(s, true); }},
      {"function for CL_QUEUED", [](auto& s) { return callback_for(s, CL_QUEUED); }, "set -30"},
      {"function for an unknown status", [](auto& s) { return callback_for(s, 17); }, "set -30"},
  };
}

}  // namespace fairgv::behaviours
