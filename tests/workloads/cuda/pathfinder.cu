// pathfinder in CUDA: see problems/rodinia/pathfinder.hpp and the OpenCL program, whose blocks do the same
// work.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/rodinia/pathfinder.hpp"

namespace workloads::cuda {
namespace {

constexpr int kGroup = PathfinderProblem::kGroup;
constexpr int kRows = PathfinderProblem::kRowsPerLaunch;
constexpr unsigned kFar = 0x7fffffffU;

__global__ void __launch_bounds__(kGroup)
    descend(unsigned* __restrict__ after, const unsigned* __restrict__ before,
            const unsigned char* __restrict__ steps, int columns, int first_row) {
  __shared__ unsigned above[2][kGroup];
  const int item = threadIdx.x;
  const int column = static_cast<int>(blockIdx.x) * (kGroup - 2 * kRows) + item - kRows;
  const bool inside = column >= 0 && column < columns;

  unsigned cheapest = inside ? before[column] : kFar;
  for (int row = 0; row < kRows; ++row) {
    // Two rows take turns, so that one barrier a row is enough.
    unsigned* const costs = above[row % 2];
    costs[item] = cheapest;
    __syncthreads();
    if (inside) {
      cheapest = min(cheapest, min(costs[max(item - 1, 0)], costs[min(item + 1, kGroup - 1)]));
      cheapest += steps[(first_row + row) * columns + column];
    }
  }
  if (inside && item >= kRows && item < kGroup - kRows) after[column] = cheapest;
}

class Pathfinder : public Workload {
 public:
  using Problem = PathfinderProblem;

  Pathfinder(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        first_row_(problem_.first_row),
        steps_(problem_.steps),
        odd_(problem_.columns),
        even_(problem_.columns) {
    launcher_.load(descend);
  }

  void enqueue_round() override {
    const unsigned* before = first_row_.get();
    for (std::size_t launch = 0; launch < Problem::kLaunches; ++launch) {
      unsigned* const after = launch % 2 == 0 ? odd_.get() : even_.get();
      launcher_.launch(descend, problem_.groups(), kGroup, after, before, steps_.get(), problem_.columns,
                       launch * Problem::kRowsPerLaunch);
      before = after;
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    odd_.fill(0xff, launcher_.stream());
    even_.fill(0xff, launcher_.stream());
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(odd_.read<std::uint32_t>(launcher_.stream()));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const DeviceArray<unsigned> first_row_;
  const DeviceArray<unsigned char> steps_;
  DeviceArray<unsigned> odd_;
  DeviceArray<unsigned> even_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::Pathfinder>(workloads::kPathfinder, argc, argv);
}
