// An OpenCL program for `fairgv bench launch` and `fairgv bench syscalls`: launches a kernel that does next
// to nothing, and prints what that cost. It knows nothing of FairGV.
//
//   fairgv-probe-launch one-way N   N launches, then one clFinish: launches per second, and the cost of
//   enqueuing fairgv-probe-launch finish N    N times a launch and a clFinish: median latency
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

#include "tests/workloads/support/device.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using workloads::check;

constexpr const char* kSource = "__kernel void touch(__global int* out) { out[get_global_id(0)] += 1; }";
constexpr std::size_t kItems = 64;

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

struct Probe {
  workloads::Device device{"0", "0"};
  workloads::Queue queue;
  workloads::Program program = device.build(kSource);
  workloads::Kernel kernel = device.kernel(program, "touch");
  workloads::Buffer out = device.upload(std::vector<int>(kItems));
  cl_int launches = 0;

  Probe() {
    cl_int error = CL_SUCCESS;
    queue = workloads::Queue(clCreateCommandQueue(device.context(), device.id(), 0, &error));
    check(error, "clCreateCommandQueue");
    workloads::set_arguments(kernel, out);
  }
  void launch() {
    check(
        clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &kItems, &kItems, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
    ++launches;
  }
  void finish() { check(clFinish(queue.get()), "clFinish"); }
  bool verified() {
    std::vector<int> values(kItems);
    check(clEnqueueReadBuffer(queue.get(), out.get(), CL_TRUE, 0, kItems * sizeof(int), values.data(), 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
    return std::all_of(values.begin(), values.end(), [&](int value) { return value == launches; });
  }
};

int run(const char* mode, long count) {
  Probe probe;
  for (int i = 0; i < 100; ++i) probe.launch();
  probe.finish();
  const auto start = Clock::now();
  if (std::strcmp(mode, "one-way") == 0) {
    for (long i = 0; i < count; ++i) probe.launch();
    const double enqueued = microseconds(Clock::now() - start);
    probe.finish();
    const double finished = microseconds(Clock::now() - start);
    const double each = static_cast<double>(count);
    std::printf("{\"launches_per_s\":%.0f,\"enqueue_us\":%.3f,", each / finished * 1e6, enqueued / each);
  } else {
    std::vector<double> times;
    for (long i = 0; i < count; ++i) {
      const auto begin = Clock::now();
      probe.launch();
      probe.finish();
      times.push_back(microseconds(Clock::now() - begin));
    }
    std::nth_element(times.begin(), times.begin() + count / 2, times.end());
    std::printf("{\"finish_us\":%.2f,", times[static_cast<std::size_t>(count) / 2]);
  }
  const bool verified = probe.verified();
  std::printf("\"verified\":%s}\n", verified ? "true" : "false");
  return verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc == 3 ? std::strtol(argv[2], nullptr, 10) : 0;
  if (count <= 0 || (std::strcmp(argv[1], "one-way") != 0 && std::strcmp(argv[1], "finish") != 0)) {
    std::fprintf(stderr, "usage: fairgv-probe-launch one-way|finish COUNT\n");
    return 2;
  }
  try {
    return run(argv[1], count);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairgv-probe-launch: %s\n", error.what());
    return 1;
  }
}
