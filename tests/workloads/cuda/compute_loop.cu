// computeLoop in CUDA: see problems/compute_loop.hpp and the OpenCL program, whose blocks do the same work.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/compute_loop.hpp"

namespace workloads::cuda {
namespace {

__global__ void iterate(unsigned* __restrict__ output, const unsigned* __restrict__ input,
                        unsigned iterations, unsigned multiplier, unsigned increment) {
  const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = input[item];
  for (unsigned iteration = 0; iteration < iterations; ++iteration) value = value * multiplier + increment;
  output[item] = value;
}

class ComputeLoop : public Workload {
 public:
  using Problem = ComputeLoopProblem;

  ComputeLoop(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher), problem_(parameters), input_(problem_.input), output_(problem_.items) {
    launcher_.load(iterate);
  }

  void enqueue_round() override {
    const auto threads = static_cast<unsigned>(problem_.group);
    launcher_.launch(iterate, static_cast<unsigned>(problem_.items) / threads, threads, output_.get(),
                     input_.get(), problem_.iterations, Problem::kMultiplier, Problem::kIncrement);
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { output_.fill(0, launcher_.stream()); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(output_.read<std::uint32_t>(launcher_.stream()));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const DeviceArray<unsigned> input_;
  DeviceArray<unsigned> output_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::ComputeLoop>(workloads::kComputeLoop, argc, argv);
}
