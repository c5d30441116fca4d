// opencl_frames FRAMES ITERATIONS [PAUSE_MS [DRAWS [HEAVY_DRAWS]]]: renders frames in the manner of a game,
// for tests and measurements of service levels; 0 frames: without end. A frame is DRAWS (2) launches of the
// kernel `draw`, a launch of `present`, a mark "frame" (fairgv/mark.h), a clFinish, and a blocking read of
// four bytes; and, on the host, a pause of so long. Every tenth frame has a mark "scene", too. Every other
// ten seconds are a heavy scene, whose frames have HEAVY_DRAWS instead.
//
// Prints a line of JSON after the first frame and every 20th, and one after the last; then it stays for a
// minute, or until it is killed, so that somebody can look at its tenant:
//
//   {"rounds": FRAMES, "right": true, "frame_s": MEAN_SECONDS}
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/workloads/support/device.hpp"

#include "icd/extensions/fairgv/mark.h"

namespace {

using namespace workloads;

constexpr const char* kSource = R"(
kernel void draw(global int* out, int iterations) {
  int value = out[get_global_id(0)];
  for (int i = 0; i < iterations; ++i) value = value * 1664525 + 1013904223;
  out[get_global_id(0)] = value;
}
kernel void present(global int* out, int frame) {
  if (get_global_id(0) == 0) out[0] = frame;
}
)";

constexpr std::size_t kGlobal = 1024;
constexpr std::size_t kLocal = 64;

}  // namespace

int main(int argc, char** argv) {
  const long frames = argc > 1 ? std::atol(argv[1]) : 10;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 1'000;
  const std::chrono::milliseconds pause(argc > 3 ? std::atoi(argv[3]) : 0);
  const int light_draws = argc > 4 ? std::atoi(argv[4]) : 2;
  const int heavy_draws = argc > 5 ? std::atoi(argv[5]) : light_draws;
  try {
    Device device("0", "0");
    const Program program = device.build(kSource);
    const Kernel draw = device.kernel(program, "draw");
    const Kernel present = device.kernel(program, "present");
    const Buffer buffer = device.buffer<cl_int>(kGlobal);
    cl_int error = CL_SUCCESS;
    const Queue queue(clCreateCommandQueue(device.context(), device.id(), 0, &error));
    check(error, "clCreateCommandQueue");
    using Clock = std::chrono::steady_clock;
    auto began = Clock::now();
    long since = 0;  // frames before that
    const auto launch = [&](const Kernel& kernel) {
      check(clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &kGlobal, &kLocal, 0, nullptr,
                                   nullptr),
            "clEnqueueNDRangeKernel");
    };
    bool right = true;
    const auto tell = [&](long done) {
      const std::chrono::duration<double> seconds = Clock::now() - began;
      const double frame_s = done > since ? seconds.count() / static_cast<double>(done - since) : 0;
      std::printf("{\"rounds\": %ld, \"right\": %s, \"frame_s\": %.6f}\n", done, right ? "true" : "false",
                  frame_s);
      std::fflush(stdout);
    };
    for (long frame = 1; frames == 0 || frame <= frames; ++frame) {
      const auto scene =
          std::chrono::floor<std::chrono::seconds>(Clock::now().time_since_epoch()).count() / 10;
      set_arguments(draw, buffer, cl_int{iterations});
      for (int left = scene % 2 == 0 ? light_draws : heavy_draws; left > 0; --left) launch(draw);
      set_arguments(present, buffer, static_cast<cl_int>(frame));
      launch(present);
      check(fairgv_mark(queue.get(), "frame"), "fairgv_mark");
      if (frame % 10 == 0) check(fairgv_mark(queue.get(), "scene"), "fairgv_mark");
      check(clFinish(queue.get()), "clFinish");
      cl_int shown = 0;
      check(clEnqueueReadBuffer(queue.get(), buffer.get(), CL_TRUE, 0, sizeof(shown), &shown, 0, nullptr,
                                nullptr),
            "clEnqueueReadBuffer");
      right = right && shown == frame;
      if (frame == 1) {  // it may have been compiled meanwhile
        began = Clock::now();
        since = 1;
      }
      if (frame == 1 || frame % 20 == 0) tell(frame);
      if (pause.count() > 0) std::this_thread::sleep_for(pause);
    }
    tell(frames);
    std::this_thread::sleep_for(std::chrono::minutes(1));
    return right ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "opencl_frames: %s\n", failure.what());
    return 3;
  }
}
