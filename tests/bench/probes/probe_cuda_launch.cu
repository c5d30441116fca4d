// A CUDA program for `fairgv bench cuda-launch`: launches a kernel that does next to nothing, and prints what
// that cost, and what calls cost that ask the device for nothing. It knows nothing of FairGV.
//
//   fairgv-probe-cuda-launch one-way N   N launches, then a synchronisation: launches per second, and the
//                                        cost of one
//   fairgv-probe-cuda-launch finish N    N times a launch and a synchronisation: median latency
//   fairgv-probe-cuda-launch calls N     N times each call: nanoseconds per call
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kItems = 64;

__global__ void touch(int* out) {
  out[threadIdx.x] += 1;
}

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "fairgv-probe-cuda-launch: %s: %s\n", what, cudaGetErrorName(code));
  std::exit(1);
}

class Probe {
 public:
  Probe() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check(cudaMalloc(reinterpret_cast<void**>(&out_), kItems * sizeof(int)), "cudaMalloc");
    check(cudaMemset(out_, 0, kItems * sizeof(int)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  void launch() {
    touch<<<1, kItems, 0, stream_>>>(out_);
    check(cudaGetLastError(), "the launch");
    ++launches_;
  }

  void finish() { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  /// Whether every launch ran exactly once.
  bool verified() {
    std::vector<int> values(kItems);
    check(cudaMemcpy(values.data(), out_, kItems * sizeof(int), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return std::all_of(values.begin(), values.end(), [&](int value) { return value == launches_; });
  }

  cudaStream_t stream() const { return stream_; }
  cudaEvent_t event() const { return event_; }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
  int* out_ = nullptr;
  int launches_ = 0;
};

void print_one_way(Probe& probe, long count) {
  const auto start = Clock::now();
  for (long i = 0; i < count; ++i) probe.launch();
  const double enqueued = microseconds(Clock::now() - start);
  probe.finish();
  const double finished = microseconds(Clock::now() - start);
  const double each = static_cast<double>(count);
  std::printf("\"launches_per_s\":%.0f,\"enqueue_us\":%.3f", each / finished * 1e6, enqueued / each);
}

void print_finish(Probe& probe, long count) {
  std::vector<double> times;
  for (long i = 0; i < count; ++i) {
    const auto start = Clock::now();
    probe.launch();
    probe.finish();
    times.push_back(microseconds(Clock::now() - start));
  }
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  std::printf("\"finish_us\":%.2f", times[static_cast<std::size_t>(count) / 2]);
}

template <typename Call>
void print_call(const char* name, long count, const char* before, const Call& call) {
  const auto start = Clock::now();
  for (long i = 0; i < count; ++i) check(call(), name);
  std::printf("%s\"%s\":%.1f", before, name,
              1e3 * microseconds(Clock::now() - start) / static_cast<double>(count));
}

void print_calls(Probe& probe, long count) {
  const cudaStream_t stream = probe.stream();
  const cudaEvent_t event = probe.event();
  print_call("cudaGetLastError", count, "", [] { return cudaGetLastError(); });
  print_call("cudaStreamQuery", count, ",", [=] { return cudaStreamQuery(stream); });
  print_call("cudaEventRecord", count, ",", [=] { return cudaEventRecord(event, stream); });
  probe.finish();
  print_call("cudaEventQuery", count, ",", [=] { return cudaEventQuery(event); });
  print_call("cudaStreamWaitEvent", count, ",", [=] { return cudaStreamWaitEvent(stream, event, 0); });
  probe.finish();
  print_call("cudaStreamSynchronize", count, ",", [=] { return cudaStreamSynchronize(stream); });
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc == 3 ? std::strtol(argv[2], nullptr, 10) : 0;
  const char* const mode = count > 0 ? argv[1] : "";
  void (*const print)(Probe&, long) = std::strcmp(mode, "one-way") == 0  ? print_one_way
                                      : std::strcmp(mode, "finish") == 0 ? print_finish
                                      : std::strcmp(mode, "calls") == 0  ? print_calls
                                                                         : nullptr;
  if (print == nullptr) {
    std::fprintf(stderr, "usage: fairgv-probe-cuda-launch one-way|finish|calls COUNT\n");
    return 2;
  }
  Probe probe;
  for (int i = 0; i < 100; ++i) probe.launch();
  probe.finish();
  std::printf("{");
  print(probe, count);
  const bool verified = probe.verified();
  std::printf(",\"verified\":%s}\n", verified ? "true" : "false");
  return verified ? 0 : 1;
}
