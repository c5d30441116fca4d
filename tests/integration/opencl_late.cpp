// A kernel that computes next to nothing, and for which PoCL makes machine code for seconds when it is
// launched for the first time: opencl_late STATEMENTS [GROUPS]. Its source differs from run to run, so that
// no cache has it. Prints a line of JSON before the launch and after its end: {"launched_s": SECONDS,
// "right": true}.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/workloads/support/device.hpp"

namespace {

using namespace workloads;

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
  // Not in a comment: PoCL keeps what it has made by what the preprocessor leaves.
  return text + "    a += " + std::to_string(run) + ".5f;\n  }\n  out[get_global_id(0)] = a + 1;\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const int statements = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::size_t groups = argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 1;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  try {
    Device device("0", "0");
    const Program program =
        device.build(source(statements, static_cast<long>(now().time_since_epoch().count())));
    const Kernel kernel = device.kernel(program, "late");
    std::vector<float> values(64 * groups, 41);
    const std::size_t global = values.size(), local = 64, bytes = global * sizeof(float);
    const Buffer buffer = device.buffer<float>(global);
    cl_int error = CL_SUCCESS;
    const Queue queue(clCreateCommandQueue(device.context(), device.id(), 0, &error));
    check(error, "clCreateCommandQueue");
    check(clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_TRUE, 0, bytes, values.data(), 0, nullptr,
                               nullptr),
          "clEnqueueWriteBuffer");
    set_arguments(kernel, buffer, cl_int{0});
    std::printf("{\"launching\": true}\n");
    std::fflush(stdout);
    const auto began = now();
    check(clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &global, &local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
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
