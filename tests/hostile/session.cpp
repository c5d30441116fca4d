#include "tests/hostile/session.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/hostile/scribbler.hpp"
#include "tests/workloads/support/cl.hpp"

namespace fairgv::hostile {
namespace {

using namespace workloads;

constexpr std::size_t kItems = 16'384;
constexpr std::size_t kGroup = 64;
constexpr int kQueued = 4;
/// Between two rounds, so that the session has work under way in each.
constexpr std::chrono::milliseconds kRest{10};

constexpr const char* kSource = R"(
__kernel void iterate(__global uint* values, uint iterations) {
  uint value = values[get_global_id(0)];
  for (uint i = 0; i < iterations; ++i) value = value * 1664525u + 1013904223u;
  values[get_global_id(0)] = value;
}
)";

/// A device, a queue that is always full, and results that are read now and then.
class Work {
 public:
  explicit Work(std::uint32_t iterations) {
    cl_platform_id platform = nullptr;
    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    cl_device_id device = nullptr;
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    cl_int error = CL_SUCCESS;
    context_ = Context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
    check(error, "clCreateContext");
    queue_ = Queue(clCreateCommandQueue(context_.get(), device, 0, &error));
    check(error, "clCreateCommandQueue");
    const char* source = kSource;
    program_ = Program(clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &error));
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program_.get(), 1, &device, "", nullptr, nullptr), "clBuildProgram");
    kernel_ = Kernel(clCreateKernel(program_.get(), "iterate", &error));
    check(error, "clCreateKernel");
    values_ =
        Buffer(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, kItems * sizeof(cl_uint), nullptr, &error));
    check(error, "clCreateBuffer");
    set_arguments(kernel_, values_, cl_uint{iterations});
  }

  void run_some(Progress& progress) {
    for (int i = 0; i < kQueued; ++i) {
      check(clEnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &kItems, &kGroup, 0, nullptr,
                                   nullptr),
            "clEnqueueNDRangeKernel");
    }
    check(clFinish(queue_.get()), "clFinish");
    progress.launches.fetch_add(kQueued, std::memory_order_relaxed);
    std::vector<cl_uint> values(kItems);
    check(clEnqueueReadBuffer(queue_.get(), values_.get(), CL_TRUE, 0, kItems * sizeof(cl_uint),
                              values.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

 private:
  workloads::Context context_;
  workloads::Queue queue_;
  workloads::Program program_;
  workloads::Kernel kernel_;
  workloads::Buffer values_;
};

void scribble(std::uint64_t seed, Progress& progress) {
  const auto segment = find_segment();
  if (!segment) return;
  auto* const header = reinterpret_cast<ring::SegmentHeader*>(segment->data());
  const ring::SegmentPreamble preamble = header->preamble;  // before it is scribbled on
  Scribbler scribbler(segment.value(), preamble, seed);
  while (header->closed.load(std::memory_order_acquire) == 0) {
    scribbler.round();
    progress.rounds.fetch_add(1, std::memory_order_relaxed);
    std::this_thread::sleep_for(kRest);
  }
  // The session is over, however the program's own calls end.
  ::_exit(0);
}

/// From now on it is at work, for as long as it lives.
void begin_life(const SessionSettings& settings, Progress& progress) {
  progress.at_work_since_ns.store(std::chrono::steady_clock::now().time_since_epoch().count(),
                                  std::memory_order_relaxed);
  if (!settings.life) return;
  // As sudden as the end of a session that is scribbled on.
  std::thread([life = *settings.life] {
    std::this_thread::sleep_for(life);
    ::_exit(0);
  }).detach();
}

[[noreturn]] void until_it_is_lost(const std::function<void()>& round) {
  try {
    for (;;) round();
  } catch (const ClError&) {
    ::_exit(0);  // as it should: the calls of a lost session answer with errors
  }
}

/// Launches count as they begin, since a session may end in its first. Returns where the deed cannot be done.
void run_rogue(const SessionSettings& settings, Progress& progress) {
  workloads::Device device("0", "0");
  if (!runs_on_the_host(device)) return;
  DeedRunner runner(*settings.deed, settings.deed_takes, std::move(device));
  begin_life(settings, progress);
  until_it_is_lost([&] {
    progress.launches.fetch_add(1, std::memory_order_relaxed);
    runner.commit();
  });
}

}  // namespace

int run_session(const SessionSettings& settings, Progress& progress) {
  try {
    if (settings.deed != nullptr) run_rogue(settings, progress);
    Work work(settings.iterations);
    work.run_some(progress);
    begin_life(settings, progress);
    if (settings.scribble_by) {
      std::thread([seed = *settings.scribble_by, &progress] { scribble(seed, progress); }).detach();
    }
    until_it_is_lost([&] { work.run_some(progress); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hostile: %s\n", error.what());
    return 1;
  }
}

}  // namespace fairgv::hostile
