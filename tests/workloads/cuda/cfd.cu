// cfd in CUDA: see problems/rodinia/cfd.hpp and the OpenCL program, whose blocks do the same work.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/rodinia/cfd.hpp"

namespace workloads::cuda {
namespace {

constexpr int kGroup = CfdProblem::kGroup;
constexpr int kFaces = CfdMesh::kFaces;
constexpr int kWall = CfdMesh::kWall;
constexpr float kHeatRatio = CfdProblem::kHeatRatio;
constexpr float kCourant = CfdProblem::kCourant;

// The state of a gas is (density, momentum along x, momentum along y, energy), per volume.
__device__ float pressure(float4 gas) {
  return (kHeatRatio - 1.0f) * (gas.w - 0.5f * (gas.y * gas.y + gas.z * gas.z) / gas.x);
}

// The volume that passes a face in a time.
__device__ float passing(float4 gas, float2 normal) {
  return (gas.y * normal.x + gas.z * normal.y) / gas.x;
}

__device__ float wave_speed(float4 gas, float2 normal) {
  const float sound = sqrtf(kHeatRatio * pressure(gas) / gas.x);
  return fabsf(passing(gas, normal)) + sound * sqrtf(normal.x * normal.x + normal.y * normal.y);
}

__device__ float4 flux(float4 gas, float2 normal) {
  const float push = pressure(gas);
  const float volume = passing(gas, normal);
  return make_float4(volume * gas.x, volume * gas.y + push * normal.x, volume * gas.z + push * normal.y,
                     volume * (gas.w + push));
}

// Gas beyond a wall moves as if in a mirror.
__device__ float4 mirrored(float4 gas, float2 normal) {
  const float twice =
      2.0f * (gas.y * normal.x + gas.z * normal.y) / (normal.x * normal.x + normal.y * normal.y);
  return make_float4(gas.x, gas.y - twice * normal.x, gas.z - twice * normal.y, gas.w);
}

// The longest time step at which a cell is stable, over its area.
__global__ void __launch_bounds__(kGroup)
    step_factors(float* __restrict__ factors, const float4* __restrict__ state,
                 const float2* __restrict__ normals, int cells) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= cells) return;
  float speeds = 0.0f;
  for (int face = 0; face < kFaces; ++face) speeds += wave_speed(state[cell], normals[face * cells + cell]);
  factors[cell] = kCourant / speeds;
}

// The flow out of each cell (Rusanov's flux).
__global__ void __launch_bounds__(kGroup)
    outflows(float4* __restrict__ flows, const float4* __restrict__ state, const int* __restrict__ neighbours,
             const float2* __restrict__ normals, int cells, float4 far_field) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= cells) return;
  const float4 here = state[cell];
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int face = 0; face < kFaces; ++face) {
    const float2 normal = normals[face * cells + cell];
    const int neighbour = neighbours[face * cells + cell];
    float4 there = far_field;  // Unless there is a neighbour, or a wall.
    if (neighbour >= 0) there = state[neighbour];
    if (neighbour == kWall) there = mirrored(here, normal);
    const float4 from_here = flux(here, normal);
    const float4 from_there = flux(there, normal);
    const float fastest = fmaxf(wave_speed(here, normal), wave_speed(there, normal));
    sum.x += 0.5f * (from_here.x + from_there.x - fastest * (there.x - here.x));
    sum.y += 0.5f * (from_here.y + from_there.y - fastest * (there.y - here.y));
    sum.z += 0.5f * (from_here.z + from_there.z - fastest * (there.z - here.z));
    sum.w += 0.5f * (from_here.w + from_there.w - fastest * (there.w - here.w));
  }
  flows[cell] = sum;
}

__global__ void __launch_bounds__(kGroup)
    advance(float4* __restrict__ after, const float4* __restrict__ before, const float* __restrict__ factors,
            const float4* __restrict__ flows, int cells, float stage) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= cells) return;
  const float factor = stage * factors[cell];
  const float4 from = before[cell];
  const float4 flow = flows[cell];
  after[cell] = make_float4(from.x - factor * flow.x, from.y - factor * flow.y, from.z - factor * flow.z,
                            from.w - factor * flow.w);
}

class Cfd : public Workload {
 public:
  using Problem = CfdProblem;

  Cfd(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        start_(problem_.start),
        neighbours_(problem_.mesh.neighbours),
        normals_(problem_.mesh.normals),
        state_(problem_.mesh.cells),
        before_(problem_.mesh.cells),
        flows_(problem_.mesh.cells),
        factors_(problem_.mesh.cells) {
    launcher_.load(step_factors, outflows, advance);
  }

  void enqueue_round() override {
    const auto& far = Problem::kFarField;
    const float4 far_field = make_float4(far[0], far[1], far[2], far[3]);
    copy(start_, state_);
    for (std::size_t step = 0; step < Problem::kSteps; ++step) {
      copy(state_, before_);
      launch(step_factors, factors_.get(), state_.get(), normals_.get(), problem_.mesh.cells);
      for (const float stage : Problem::kStages) {
        launch(outflows, flows_.get(), state_.get(), neighbours_.get(), normals_.get(), problem_.mesh.cells,
               far_field);
        launch(advance, state_.get(), before_.get(), factors_.get(), flows_.get(), problem_.mesh.cells,
               stage);
      }
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    for (DeviceArray<float4>* each : {&state_, &before_, &flows_}) each->fill(0xff, launcher_.stream());
    factors_.fill(0xff, launcher_.stream());
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(state_.read<float>(launcher_.stream()));
  }

 private:
  void copy(const DeviceArray<float4>& from, DeviceArray<float4>& to) {
    check(cudaMemcpyAsync(to.get(), from.get(), to.bytes(), cudaMemcpyDeviceToDevice, launcher_.stream()),
          "cudaMemcpyAsync");
  }

  template <typename... Parameters, typename... Arguments>
  void launch(void (*kernel)(Parameters...), Arguments... arguments) {
    launcher_.launch(kernel, problem_.groups(), kGroup, arguments...);
  }

  Launcher& launcher_;
  Problem problem_;
  const DeviceArray<float4> start_;
  const DeviceArray<int> neighbours_;
  const DeviceArray<float2> normals_;
  DeviceArray<float4> state_;
  DeviceArray<float4> before_;
  DeviceArray<float4> flows_;
  DeviceArray<float> factors_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::Cfd>(workloads::kCfd, argc, argv);
}
