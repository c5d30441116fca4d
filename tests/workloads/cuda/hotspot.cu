// hotspot in CUDA: see problems/rodinia/hotspot.hpp and the OpenCL program, whose blocks do the same work.
// The grids lie in pitched memory.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/rodinia/hotspot.hpp"

namespace workloads::cuda {
namespace {

constexpr int kTile = HotspotProblem::kTile;

/// HotspotProblem's, as the kernel takes them.
struct Step {
  float along_rows = HotspotProblem::kAlongRows;
  float along_columns = HotspotProblem::kAlongColumns;
  float to_ambient = HotspotProblem::kToAmbient;
  float power_to_heat = HotspotProblem::kPowerToHeat;
  float ambient = HotspotProblem::kAmbient;
};

__global__ void __launch_bounds__(kTile* kTile)
    advance(float* __restrict__ after, const float* __restrict__ before, const float* __restrict__ power,
            int side, int pitch, Step step) {
  __shared__ float tile[kTile + 2][kTile + 2];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int column = blockIdx.x * kTile + x;
  const int row = blockIdx.y * kTile + y;
  const int cell = row * pitch + column;

  // The edge of the chip exchanges no heat: a neighbour outside counts as equally warm.
  tile[y + 1][x + 1] = before[cell];
  if (x == 0) tile[y + 1][0] = before[row * pitch + max(column - 1, 0)];
  if (x == kTile - 1) tile[y + 1][kTile + 1] = before[row * pitch + min(column + 1, side - 1)];
  if (y == 0) tile[0][x + 1] = before[max(row - 1, 0) * pitch + column];
  if (y == kTile - 1) tile[kTile + 1][x + 1] = before[min(row + 1, side - 1) * pitch + column];
  __syncthreads();

  const float here = tile[y + 1][x + 1];
  after[cell] = here + step.power_to_heat * power[cell] +
                step.along_rows * (tile[y + 1][x] + tile[y + 1][x + 2] - 2.0f * here) +
                step.along_columns * (tile[y][x + 1] + tile[y + 2][x + 1] - 2.0f * here) +
                step.to_ambient * (step.ambient - here);
}

class Hotspot : public Workload {
 public:
  using Problem = HotspotProblem;

  Hotspot(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        start_(problem_.side, problem_.start),
        power_(problem_.side, problem_.power),
        odd_(problem_.side),
        even_(problem_.side) {
    launcher_.load(advance);
  }

  void enqueue_round() override {
    launch(odd_, start_);
    for (std::size_t step = 1; step < Problem::kSteps; ++step) {
      step % 2 == 1 ? launch(even_, odd_) : launch(odd_, even_);
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    odd_.fill(0xff, launcher_.stream());
    even_.fill(0xff, launcher_.stream());
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(even_.read(launcher_.stream()));
  }

 private:
  void launch(const PitchedImage& after, const PitchedImage& before) {
    const auto tiles = static_cast<unsigned>(problem_.side / kTile);
    launcher_.launch(advance, {tiles, tiles}, {kTile, kTile}, after.get(), before.get(), power_.get(),
                     problem_.side, power_.pitch(), Step{});
  }

  Launcher& launcher_;
  Problem problem_;
  const PitchedImage start_;  // Of one side, the four have one pitch.
  const PitchedImage power_;
  PitchedImage odd_;
  PitchedImage even_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::Hotspot>(workloads::kHotspot, argc, argv);
}
