#include "tests/workloads/cuda/support/launcher.hpp"

#include <cmath>

namespace workloads::cuda {
namespace {

class EventMark : public Mark {
 public:
  explicit EventMark(cudaStream_t stream) {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check(cudaEventRecord(event_, stream), "cudaEventRecord");
  }
  ~EventMark() override { cudaEventDestroy(event_); }
  EventMark(const EventMark&) = delete;
  EventMark& operator=(const EventMark&) = delete;

  void wait() override { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }

 private:
  cudaEvent_t event_ = nullptr;
};

std::uint64_t nanoseconds_between(cudaEvent_t first, cudaEvent_t second) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, first, second), "cudaEventElapsedTime");
  return static_cast<std::uint64_t>(std::llround(1e6 * static_cast<double>(milliseconds)));
}

}  // namespace

Launcher::Launcher() {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

Launcher::~Launcher() {
  for (cudaEvent_t event : recorded_) cudaEventDestroy(event);
  cudaStreamDestroy(stream_);
}

void Launcher::finish() {
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

std::unique_ptr<Mark> Launcher::mark() {
  return std::make_unique<EventMark>(stream_);
}

void Launcher::record() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate");
  recorded_.push_back(event);
  check(cudaEventRecord(event, stream_), "cudaEventRecord");
}

void Launcher::start_profiling() {
  finish();
  profiling_ = true;
}

std::vector<Execution> Launcher::stop_profiling() {
  finish();
  profiling_ = false;
  std::vector<Execution> executions;
  // A float of milliseconds is exact enough from one event to the next only.
  std::uint64_t now = 0;
  for (std::size_t i = 0; i < recorded_.size(); i += 2) {
    if (i > 0) now += nanoseconds_between(recorded_[i - 1], recorded_[i]);
    const std::uint64_t start = now;
    now += nanoseconds_between(recorded_[i], recorded_[i + 1]);
    executions.push_back({start, now});
  }
  for (cudaEvent_t event : recorded_) cudaEventDestroy(event);
  recorded_.clear();
  return executions;
}

}  // namespace workloads::cuda
