// opencl_late STATEMENTS [GROUPS [recorded]]: runs a kernel that computes next to nothing, and for which PoCL
// makes machine code for seconds when it is launched for the first time. Its source differs from run to run,
// so that no cache has it. Prints a line of JSON before the launch and after its end:
//
//   {"launched_s": SECONDS, "right": true}
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/workloads/support/device.hpp"

#include <CL/cl_ext.h>  // after device.hpp, which selects the version of OpenCL

namespace {

using namespace workloads;

constexpr std::size_t kLocal = 64;

std::string source(int statements, long run) {
  std::string text =
      "kernel void late(global float* out, int never) {\n"
      "  local float shared[64];\n  int i = get_local_id(0);\n  float a = out[get_global_id(0)];\n"
      "  if (never) {\n";
  for (int n = 0; n < statements; ++n) {
    const std::string number = std::to_string(n + 1);
    text += n % 40 == 39
                ? "    shared[i] = a; barrier(CLK_LOCAL_MEM_FENCE); a += shared[(i + " + number + ") & 63];\n"
                : "    a = sin(a * " + number + ".5f) + shared[(i * " + number + ") & 63];\n";
  }
  // Not in a comment: PoCL finds its cached code by the output of the preprocessor.
  return text + "    a += " + std::to_string(run) + ".5f;\n  }\n  out[get_global_id(0)] = a + 1;\n}\n";
}

/// Hands the launch to the queue: by itself, or recorded in a command buffer.
class Launching {
 public:
  Launching(cl_command_queue queue, cl_kernel kernel, std::size_t global, bool recorded)
      : queue_(queue), kernel_(kernel), global_(global) {
    if (!recorded) return;
    find("clEnqueueCommandBufferKHR", replay_);
    find("clReleaseCommandBufferKHR", release_);
    const auto create = find<clCreateCommandBufferKHR_fn>("clCreateCommandBufferKHR");
    const auto record = find<clCommandNDRangeKernelKHR_fn>("clCommandNDRangeKernelKHR");
    const auto finalize = find<clFinalizeCommandBufferKHR_fn>("clFinalizeCommandBufferKHR");
    cl_int error = CL_SUCCESS;
    buffer_ = create(1, &queue, nullptr, &error);
    check(error, "clCreateCommandBufferKHR");
    check(record(buffer_, nullptr, nullptr, kernel, 1, nullptr, &global_, &kLocal, 0, nullptr, nullptr,
                 nullptr),
          "clCommandNDRangeKernelKHR");
    check(finalize(buffer_), "clFinalizeCommandBufferKHR");
  }
  ~Launching() {
    if (buffer_ != nullptr) release_(buffer_);
  }
  Launching(const Launching&) = delete;
  Launching& operator=(const Launching&) = delete;

  void launch() const {
    if (buffer_ != nullptr) {
      check(replay_(0, nullptr, buffer_, 0, nullptr, nullptr), "clEnqueueCommandBufferKHR");
    } else {
      check(clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &global_, &kLocal, 0, nullptr, nullptr),
            "clEnqueueNDRangeKernel");
    }
  }

 private:
  template <class Function>
  Function find(const char* name) const {
    cl_device_id device = nullptr;
    cl_platform_id platform = nullptr;
    check(clGetCommandQueueInfo(queue_, CL_QUEUE_DEVICE, sizeof(device), &device, nullptr),
          "clGetCommandQueueInfo");
    check(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, nullptr),
          "clGetDeviceInfo");
    void* const function = clGetExtensionFunctionAddressForPlatform(platform, name);
    if (function == nullptr) throw std::runtime_error(std::string("the platform has no ") + name);
    return reinterpret_cast<Function>(function);
  }
  template <class Function>
  void find(const char* name, Function& function) const {
    function = find<Function>(name);
  }

  cl_command_queue queue_;
  cl_kernel kernel_;
  std::size_t global_;
  cl_command_buffer_khr buffer_ = nullptr;
  clEnqueueCommandBufferKHR_fn replay_ = nullptr;
  clReleaseCommandBufferKHR_fn release_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const int statements = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::size_t groups = argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 1;
  const bool recorded = argc > 3 && std::strcmp(argv[3], "recorded") == 0;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  try {
    Device device("0", "0");
    const Program program =
        device.build(source(statements, static_cast<long>(now().time_since_epoch().count())));
    const Kernel kernel = device.kernel(program, "late");
    std::vector<float> values(kLocal * groups, 41);
    const std::size_t global = values.size(), bytes = global * sizeof(float);
    const Buffer buffer = device.buffer<float>(global);
    cl_int error = CL_SUCCESS;
    const Queue queue(clCreateCommandQueue(device.context(), device.id(), 0, &error));
    check(error, "clCreateCommandQueue");
    check(clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_TRUE, 0, bytes, values.data(), 0, nullptr,
                               nullptr),
          "clEnqueueWriteBuffer");
    set_arguments(kernel, buffer, cl_int{0});
    const Launching late(queue.get(), kernel.get(), global, recorded);
    std::printf("{\"launching\": true}\n");
    std::fflush(stdout);
    const auto began = now();
    late.launch();
    check(clFinish(queue.get()), "clFinish");
    const std::chrono::duration<double> seconds = now() - began;
    check(
        clEnqueueReadBuffer(queue.get(), buffer.get(), CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
    const bool right = std::all_of(values.begin(), values.end(), [](float value) { return value == 42; });
    std::printf("{\"launched_s\": %.3f, \"right\": %s}\n", seconds.count(), right ? "true" : "false");
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "opencl_late: %s\n", error.what());
    return 3;
  }
}
