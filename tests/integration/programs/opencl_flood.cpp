// opencl_flood sleeps|spins: keeps 32 short kernels in its queue until it is killed, more than a driver's
// queue has, and waits for each in turn. With `spins` other threads keep the host's processors busy.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <thread>

#include "tests/workloads/support/device.hpp"

namespace {

using namespace workloads;

constexpr std::size_t kQueued = 32;
constexpr std::size_t kItems = 4096;
constexpr cl_int kSteps = 300;
constexpr int kSpinners = 4;  // so that the host runs one of them even if it has much to do
constexpr const char* kSource =
    "kernel void flood(global float* out, int steps) {\n"
    "  int i = get_global_id(0);\n  float x = out[i];\n"
    "  for (int step = 0; step < steps; ++step) x = x * 0.5f + 1.0f;\n"
    "  out[i] = x;\n}\n";

[[noreturn]] void flood() {
  Device device("0", "0");
  const Program program = device.build(kSource);
  const Kernel kernel = device.kernel(program, "flood");
  const Buffer buffer = device.buffer<float>(kItems);
  cl_int error = CL_SUCCESS;
  const Queue queue(clCreateCommandQueue(device.context(), device.id(), 0, &error));
  check(error, "clCreateCommandQueue");
  set_arguments(kernel, buffer, kSteps);
  for (std::deque<cl_event> queued;;) {
    cl_event event = nullptr;
    check(clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &kItems, nullptr, 0, nullptr, &event),
          "clEnqueueNDRangeKernel");
    queued.push_back(event);
    check(clFlush(queue.get()), "clFlush");
    if (queued.size() < kQueued) continue;
    check(clWaitForEvents(1, &queued.front()), "clWaitForEvents");
    check(clReleaseEvent(queued.front()), "clReleaseEvent");
    queued.pop_front();
  }
}

}  // namespace

int main(int argc, char** argv) {
  static std::atomic<std::uint64_t> spins{0};
  const bool spin = argc > 1 && std::strcmp(argv[1], "spins") == 0;
  for (int i = 0; spin && i < kSpinners; ++i) {
    std::thread([] {
      for (;;) spins.fetch_add(1, std::memory_order_relaxed);
    }).detach();
  }
  try {
    flood();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "opencl_flood: %s\n", error.what());
    std::_Exit(3);
  }
}
