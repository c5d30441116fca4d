// lavaMD in CUDA: see problems/rodinia/lava_md.hpp and the OpenCL program, whose blocks do the same work.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/rodinia/lava_md.hpp"

namespace workloads::cuda {
namespace {

constexpr int kParticles = LavaMdProblem::kParticles;
constexpr int kAcross = LavaMdProblem::kAcross;
constexpr float kScreening = LavaMdProblem::kScreening;
constexpr float kSoftening = LavaMdProblem::kSoftening;

// Particles are (x, y, z, charge), results the field along x, y and z, and the potential.
__global__ void __launch_bounds__(kParticles)
    interact(float4* __restrict__ fields, const float4* __restrict__ particles, int layers) {
  __shared__ float4 others[kParticles];
  const int item = threadIdx.x;
  const int box = blockIdx.x;
  const int x = box % kAcross;
  const int y = box / kAcross % kAcross;
  const int layer = box / (kAcross * kAcross);

  const float4 mine = particles[box * kParticles + item];
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int k = max(layer - 1, 0); k <= min(layer + 1, layers - 1); ++k) {
    for (int j = max(y - 1, 0); j <= min(y + 1, kAcross - 1); ++j) {
      for (int i = max(x - 1, 0); i <= min(x + 1, kAcross - 1); ++i) {
        __syncthreads();
        others[item] = particles[((k * kAcross + j) * kAcross + i) * kParticles + item];
        __syncthreads();
        // A particle is its own neighbour, too: it adds a constant to its potential.
        for (int other = 0; other < kParticles; ++other) {
          const float4 influence = others[other];
          const float3 to = make_float3(mine.x - influence.x, mine.y - influence.y, mine.z - influence.z);
          const float square = to.x * to.x + to.y * to.y + to.z * to.z + kSoftening * kSoftening;
          const float nearness = rsqrtf(square);
          const float potential = influence.w * expf(-kScreening * square * nearness) * nearness;
          const float strength = potential * (kScreening + nearness) * nearness;
          sum.x += strength * to.x;
          sum.y += strength * to.y;
          sum.z += strength * to.z;
          sum.w += potential;
        }
      }
    }
  }
  fields[box * kParticles + item] = sum;
}

class LavaMd : public Workload {
 public:
  using Problem = LavaMdProblem;

  LavaMd(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        particles_(problem_.particles),
        fields_(problem_.boxes * Problem::kParticles) {
    launcher_.load(interact);
  }

  void enqueue_round() override {
    launcher_.launch(interact, problem_.boxes, kParticles, fields_.get(), particles_.get(), problem_.layers);
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { fields_.fill(0xff, launcher_.stream()); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(fields_.read<float>(launcher_.stream()));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const DeviceArray<float4> particles_;
  DeviceArray<float4> fields_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::LavaMd>(workloads::kLavaMd, argc, argv);
}
