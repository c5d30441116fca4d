// histogram in CUDA: see problems/histogram.hpp and the OpenCL program, whose blocks do the same work.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/histogram.hpp"

namespace workloads::cuda {
namespace {

constexpr int kBins = HistogramProblem::kBins;

__global__ void __launch_bounds__(kBins)
    count_bytes(unsigned* __restrict__ partial, const unsigned* __restrict__ data, unsigned words) {
  __shared__ unsigned bins[kBins];
  const unsigned item = threadIdx.x;
  bins[item] = 0;
  __syncthreads();
  for (unsigned word = blockIdx.x * blockDim.x + item; word < words; word += gridDim.x * blockDim.x) {
    const unsigned bytes = data[word];
    atomicAdd(&bins[bytes & 0xff], 1U);
    atomicAdd(&bins[(bytes >> 8) & 0xff], 1U);
    atomicAdd(&bins[(bytes >> 16) & 0xff], 1U);
    atomicAdd(&bins[bytes >> 24], 1U);
  }
  __syncthreads();
  partial[blockIdx.x * kBins + item] = bins[item];
}

__global__ void merge(unsigned* __restrict__ histogram, const unsigned* __restrict__ partial,
                      unsigned groups) {
  const unsigned bin = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (unsigned group = 0; group < groups; ++group) sum += partial[group * kBins + bin];
  histogram[bin] = sum;
}

class Histogram : public Workload {
 public:
  using Problem = HistogramProblem;

  Histogram(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        data_(problem_.data),
        partial_(Problem::kGroups * Problem::kBins),
        histogram_(Problem::kBins) {
    launcher_.load(count_bytes, merge);
  }

  void enqueue_round() override {
    launcher_.launch(count_bytes, Problem::kGroups, Problem::kBins, partial_.get(), data_.get(),
                     problem_.words);
    launcher_.launch(merge, Problem::kBins / Problem::kMergeGroup, Problem::kMergeGroup, histogram_.get(),
                     partial_.get(), Problem::kGroups);
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    partial_.fill(0xff, launcher_.stream());
    histogram_.fill(0xff, launcher_.stream());
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(histogram_.read<std::uint32_t>(launcher_.stream()));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const DeviceArray<unsigned> data_;
  DeviceArray<unsigned> partial_;
  DeviceArray<unsigned> histogram_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::Histogram>(workloads::kHistogram, argc, argv);
}
