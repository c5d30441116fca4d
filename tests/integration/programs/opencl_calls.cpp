// An OpenCL program that notes the times at which it waited, for tools/trace_test.cpp: it builds, queries,
// reads and finishes again and again until it is killed, or for a minute. For each call it prints a JSON line
// with times in nanoseconds of CLOCK_MONOTONIC:
//
//   {"rounds": 7, "call": "BuildProgram", "began": 123, "ended": 456}
//
// The program knows nothing of FairGV.
#include <chrono>
#include <cinttypes>
#include <cstdio>

#include "tests/integration/opencl/work.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using fairgv::integration::Work;

std::int64_t now_ns() {
  return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

template <class Body>
void timed(int round, const char* call, Body body) {
  const std::int64_t began = now_ns();
  body();
  const std::int64_t ended = now_ns();
  std::printf(R"({"rounds": %d, "call": "%s", "began": %)" PRId64 R"(, "ended": %)" PRId64 "}\n", round, call,
              began, ended);
}

class Calls {
 public:
  Calls() : buffer_(work_.device().upload(std::vector<int>(kItems, 1))) {}

  void round(int number) {
    workloads::Program program;
    timed(number, "BuildProgram", [&] { program = work_.device().build(kSource); });
    timed(number, "GetProgramInfo", [&] {
      std::size_t bytes = 0;
      workloads::check(
          clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, nullptr),
          "clGetProgramInfo");
    });
    const workloads::Kernel kernel = work_.device().kernel(program, "spend");
    workloads::set_arguments(kernel, buffer_);
    launch(kernel);
    timed(number, "Finish", [&] { workloads::check(clFinish(work_.queue()), "clFinish"); });
    launch(kernel);
    timed(number, "EnqueueReadBuffer", [&] {
      int first = 0;
      workloads::check(clEnqueueReadBuffer(work_.queue(), buffer_.get(), CL_TRUE, 0, sizeof(first), &first, 0,
                                           nullptr, nullptr),
                       "clEnqueueReadBuffer");
    });
    cl_event event = nullptr;
    launch(kernel, &event);
    clFlush(work_.queue());
    timed(number, "WaitForEvents", [&] { workloads::check(clWaitForEvents(1, &event), "clWaitForEvents"); });
    clReleaseEvent(event);
  }

 private:
  static constexpr std::size_t kItems = 1 << 14;
  static constexpr const char* kSource = R"(
    kernel void spend(global int* out) {
      int value = out[get_global_id(0)];
      for (int i = 0; i < 100; ++i) value = value * 1664525 + 1013904223;
      out[get_global_id(0)] = value;
    })";

  void launch(const workloads::Kernel& kernel, cl_event* event = nullptr) {
    workloads::check(
        clEnqueueNDRangeKernel(work_.queue(), kernel.get(), 1, nullptr, &kItems, nullptr, 0, nullptr, event),
        "clEnqueueNDRangeKernel");
  }

  Work work_;
  workloads::Buffer buffer_;
};

}  // namespace

int main() {
  Calls calls;
  const auto until = Clock::now() + std::chrono::minutes(1);
  for (int round = 1; Clock::now() < until; ++round) {
    calls.round(round);
    std::fflush(stdout);
  }
  return 0;
}
