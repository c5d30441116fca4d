// An OpenCL program that loses its device and begins again in a new context, for containment/faults_test.cpp.
// It knows nothing of FairGV. It prints "right" for work that came out right, "begun" when the command that
// will end badly is under way, and "lost" when every object has reported the loss; it ends with status 0.
//
//   opencl_loss fault       a kernel writes where nothing is
//   opencl_loss never-ends  a kernel never ends
#include <chrono>
#include <cstdio>
#include <future>
#include <string>
#include <thread>

#include "tests/integration/opencl/work.hpp"

namespace {

using fairgv::integration::Work;

constexpr const char* kKernels = R"(
kernel void fault(global int* out) { *(volatile global int*)(out[0] * 8UL) = 1; }
kernel void never_ends(global volatile int* out) { while (out[0] == 1) out[1] += 1; }
)";

void say(const char* what) {
  std::puts(what);
  std::fflush(stdout);
}

int wrong(const char* what, cl_int code) {
  std::printf("%s: %d\n", what, code);
  return 1;
}

void CL_CALLBACK pass_on(cl_event, cl_int status, void* to) {
  static_cast<std::promise<cl_int>*>(to)->set_value(status);
}

/// Runs a command that ends badly, and checks that every object reports it. The objects are left as they are:
/// their release must do no harm either.
int lose(Work& work, const char* name) {
  workloads::Device& device = work.device();
  const workloads::Program program = device.build(kKernels);
  const workloads::Kernel kernel = device.kernel(program, name);
  const workloads::Buffer out = device.upload(std::vector<int>{1, 0});
  workloads::set_arguments(kernel, out);
  const std::size_t one = 1;
  cl_int error = CL_SUCCESS;
  cl_event event = nullptr;
  cl_event may_begin = clCreateUserEvent(device.context(), &error);
  workloads::check(error, "clCreateUserEvent");
  workloads::check(
      clEnqueueNDRangeKernel(work.queue(), kernel.get(), 1, nullptr, &one, nullptr, 1, &may_begin, &event),
      "clEnqueueNDRangeKernel");
  std::promise<cl_int> reported;
  workloads::check(clSetEventCallback(event, CL_COMPLETE, pass_on, &reported), "clSetEventCallback");
  clFlush(work.queue());
  clSetUserEventStatus(may_begin, CL_COMPLETE);  // from here on every call may find the device lost
  clReleaseEvent(may_begin);
  say("begun");

  const cl_int finished = clFinish(work.queue());
  if (finished != CL_DEVICE_NOT_AVAILABLE) return wrong("clFinish", finished);
  const cl_int waited = clWaitForEvents(1, &event);
  if (waited != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) return wrong("clWaitForEvents", waited);
  cl_int status = CL_QUEUED;
  clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
  if (status >= 0) return wrong("the event's status", status);
  if (const cl_int told = reported.get_future().get(); told >= 0) return wrong("the callback", told);
  std::promise<cl_int> reported_late;
  workloads::check(clSetEventCallback(event, CL_COMPLETE, pass_on, &reported_late), "clSetEventCallback");
  if (const cl_int told = reported_late.get_future().get(); told >= 0)
    return wrong("a callback set after the loss", told);
  (void)clCreateBuffer(device.context(), CL_MEM_READ_WRITE, 64, nullptr, &error);
  if (error != CL_DEVICE_NOT_AVAILABLE) return wrong("clCreateBuffer", error);
  error = clEnqueueNDRangeKernel(work.queue(), kernel.get(), 1, nullptr, &one, nullptr, 0, nullptr, nullptr);
  if (error != CL_DEVICE_NOT_AVAILABLE) return wrong("clEnqueueNDRangeKernel", error);
  clReleaseEvent(event);
  say("lost");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 2 ? argv[1] : "";
  if (mode != "fault" && mode != "never-ends") {
    std::fprintf(stderr, "usage: opencl_loss fault|never-ends\n");
    return 2;
  }
  Work first;
  say(first.comes_out_right() ? "right" : "wrong");
  if (const int status = lose(first, mode == "fault" ? "fault" : "never_ends"); status != 0) return status;
  Work second;
  for (int i = 0; i < 10; ++i) {
    if (!second.comes_out_right()) return 1;
  }
  say("right");
  return 0;
}
