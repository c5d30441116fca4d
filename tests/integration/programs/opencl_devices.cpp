// An OpenCL program that loses its session and goes on with the devices that it finds then, for
// device_choice_test.cpp. It knows nothing of FairGV. It prints the number of its devices, and "begun" when
// it works on the first; after the loss the result of clCreateContext for the same device, whether it finds
// another one now, and "right" when it has worked on that.
#include <CL/cl.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_device_id> devices(count);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
  return devices;
}

void say(const char* what, int number) {
  std::printf("%s %d\n", what, number);
  std::fflush(stdout);
}

/// A context with a queue and a buffer, written to again and again.
class Work {
 public:
  explicit Work(cl_device_id device) {
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error_);
    if (error_ == CL_SUCCESS) queue_ = clCreateCommandQueueWithProperties(context_, device, nullptr, &error_);
    if (error_ == CL_SUCCESS) buffer_ = clCreateBuffer(context_, CL_MEM_READ_WRITE, 4096, nullptr, &error_);
  }
  cl_int error() const { return error_; }
  cl_int fill(cl_int with) {
    const cl_int error =
        clEnqueueFillBuffer(queue_, buffer_, &with, sizeof(with), 0, 4096, 0, nullptr, nullptr);
    return error == CL_SUCCESS ? clFinish(queue_) : error;
  }
  cl_int read() {
    cl_int value = 0;
    const cl_int error =
        clEnqueueReadBuffer(queue_, buffer_, CL_TRUE, 0, sizeof(value), &value, 0, nullptr, nullptr);
    return error == CL_SUCCESS ? value : error;
  }

 private:
  cl_int error_ = CL_SUCCESS;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_mem buffer_ = nullptr;
};

}  // namespace

int main() {
  cl_platform_id platform = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 2;
  const std::vector<cl_device_id> first = devices_of(platform);
  say("devices", static_cast<int>(first.size()));
  if (first.empty()) return 2;
  Work work(first[0]);
  if (work.error() != CL_SUCCESS || work.fill(1) != CL_SUCCESS) return 1;
  say("begun", 0);
  // The test ends the session.
  while (work.fill(2) == CL_SUCCESS) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  say("same", Work(first[0]).error());
  const std::vector<cl_device_id> then = devices_of(platform);
  if (then.empty()) return 1;
  say("other", then[0] != first[0] ? 1 : 0);
  Work again(then[0]);
  if (again.error() != CL_SUCCESS || again.fill(42) != CL_SUCCESS) return 1;
  say("right", again.read());
  return 0;
}
