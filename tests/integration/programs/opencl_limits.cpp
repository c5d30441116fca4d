// Takes more of a session than allowed, and prints the number at which it was refused and the error; then
// gives some back and goes on. The argument is "objects", "commands" or "memory"; the last word of the output
// is "works" when all is well again.
#include <CL/cl.h>

#include <cstdio>
#include <string_view>
#include <vector>

namespace {

/// More than every limit of the tests.
constexpr int kEndless = 10'000'000;

struct Device {
  Device() {
    cl_platform_id platform = nullptr;
    clGetPlatformIDs(1, &platform, nullptr);
    cl_device_id device = nullptr;
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue = clCreateCommandQueueWithProperties(context, device, nullptr, nullptr);
  }
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

void tell(int count, cl_int error, bool works) {
  std::printf("%d %d %s\n", count, error, works ? "works" : "broken");
}

void take_objects(const Device& device) {
  std::vector<cl_mem> buffers;
  cl_int error = CL_SUCCESS;
  while (error == CL_SUCCESS && buffers.size() < kEndless) {
    const cl_mem buffer = clCreateBuffer(device.context, 0, 64, nullptr, &error);
    if (buffer != nullptr) buffers.push_back(buffer);
  }
  const cl_int refused = error;
  clReleaseMemObject(buffers.back());
  const bool again = clCreateBuffer(device.context, 0, 64, nullptr, &error) != nullptr;
  tell(static_cast<int>(buffers.size()), refused, again && clFinish(device.queue) == CL_SUCCESS);
}

void queue_commands(const Device& device) {
  cl_int error = CL_SUCCESS;
  const cl_mem buffer = clCreateBuffer(device.context, 0, 64, nullptr, nullptr);
  const cl_event gate = clCreateUserEvent(device.context, &error);
  const cl_int pattern = 7;
  int count = 0;
  for (; error == CL_SUCCESS && count < kEndless; ++count) {
    error = clEnqueueFillBuffer(device.queue, buffer, &pattern, sizeof(pattern), 0, 64, 1, &gate, nullptr);
  }
  cl_event event = nullptr;
  const cl_int with_event =
      clEnqueueFillBuffer(device.queue, buffer, &pattern, sizeof(pattern), 0, 64, 1, &gate, &event);
  bool works = with_event == error && event == nullptr;
  works &= clSetUserEventStatus(gate, CL_COMPLETE) == CL_SUCCESS && clFinish(device.queue) == CL_SUCCESS;
  cl_int value = 0;
  works &= clEnqueueReadBuffer(device.queue, buffer, CL_TRUE, 0, sizeof(value), &value, 0, nullptr,
                               nullptr) == CL_SUCCESS;
  tell(count - 1, error, works && value == pattern);
}

void take_memory(const Device& device) {
  constexpr std::size_t kBytes = 16 << 20;
  std::vector<void*> pieces;
  while (pieces.size() < kEndless) {
    void* const piece = clSVMAlloc(device.context, CL_MEM_READ_WRITE, kBytes, 0);
    if (piece == nullptr) break;
    pieces.push_back(piece);
  }
  for (void* const piece : pieces) clSVMFree(device.context, piece);
  void* const again = clSVMAlloc(device.context, CL_MEM_READ_WRITE, kBytes, 0);
  const cl_int pattern = 7;
  const bool works = again != nullptr &&
                     clEnqueueSVMMemFill(device.queue, again, &pattern, sizeof(pattern), kBytes, 0, nullptr,
                                         nullptr) == CL_SUCCESS &&
                     clFinish(device.queue) == CL_SUCCESS &&
                     static_cast<const cl_int*>(again)[100] == pattern;
  tell(static_cast<int>(pieces.size()), 0, works);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  const Device device;
  if (what == "objects") take_objects(device);
  if (what == "commands") queue_commands(device);
  if (what == "memory") take_memory(device);
  return what.empty() ? 1 : 0;
}
