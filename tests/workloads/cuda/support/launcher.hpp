#pragma once
// The stream a CUDA workload launches on.

#include <cuda_runtime_api.h>

#include <chrono>
#include <memory>
#include <vector>

#include "tests/workloads/cuda/support/memory.hpp"
#include "tests/workloads/support/launch_queue.hpp"

namespace workloads::cuda {

class Launcher : public LaunchQueue {
 public:
  Launcher();
  ~Launcher() override;
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  cudaStream_t stream() const { return stream_; }

  /// Makes the driver load these kernels now, rather than at their first launches.
  template <typename... Kernels>
  void load(Kernels*... kernels) {
    const auto start = std::chrono::steady_clock::now();
    cudaFuncAttributes attributes{};
    (check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels)),
           "cudaFuncGetAttributes"),
     ...);
    load_time_ = std::chrono::steady_clock::now() - start;
  }
  std::chrono::duration<double, std::milli> load_time() const { return load_time_; }

#ifdef __CUDACC__
  /// Launches a kernel; in SyncMode::kEvery waits for it too.
  template <typename... Parameters, typename... Arguments>
  void launch(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, Arguments... arguments) {
    count_launch([&] {
      if (profiling_) record();
      kernel<<<blocks, threads, 0, stream_>>>(static_cast<Parameters>(arguments)...);
      check(cudaGetLastError(), "the launch");
      if (profiling_) record();
    });
  }
#endif

  void finish() override;
  std::unique_ptr<Mark> mark() override;
  void start_profiling() override;
  std::vector<Execution> stop_profiling() override;

 private:
  void record();

  cudaStream_t stream_ = nullptr;
  bool profiling_ = false;
  std::vector<cudaEvent_t> recorded_;  // before and after every profiled launch
  std::chrono::duration<double, std::milli> load_time_{0};
};

}  // namespace workloads::cuda
