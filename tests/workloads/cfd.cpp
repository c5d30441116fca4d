// cfd: the Euler equations on an unstructured mesh. A time step is a copy of the state, the local step sizes,
// and three stages of fluxes and update: seven kernels, some of them short. The host waits for each launch.

#include <cmath>

#include "tests/workloads/problems/rodinia/cfd.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

constexpr const char* kSource = R"(
#define GROUP 128
#define FACES 3
#define WALL (-1)

// The state of a gas is (density, momentum along x, momentum along y, energy), per volume.
float pressure(const float4 gas, const float heat_ratio) {
  return (heat_ratio - 1.0f) * (gas.w - 0.5f * dot(gas.yz, gas.yz) / gas.x);
}

float wave_speed(const float4 gas, const float2 normal, const float heat_ratio) {
  const float sound = sqrt(heat_ratio * pressure(gas, heat_ratio) / gas.x);
  return fabs(dot(gas.yz, normal) / gas.x) + sound * sqrt(dot(normal, normal));
}

float4 flux(const float4 gas, const float2 normal, const float heat_ratio) {
  const float push = pressure(gas, heat_ratio);
  const float volume = dot(gas.yz, normal) / gas.x;
  return volume * gas + push * (float4)(0.0f, normal.x, normal.y, volume);
}

// Gas beyond a wall moves as if in a mirror.
float4 mirrored(const float4 gas, const float2 normal) {
  const float twice = 2.0f * dot(gas.yz, normal) / dot(normal, normal);
  return gas - twice * (float4)(0.0f, normal.x, normal.y, 0.0f);
}

// The longest time step at which a cell is stable, over its area.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void step_factors(__global float* restrict factors, __global const float4* restrict state,
                  __global const float2* restrict normals, const int cells, const float courant,
                  const float heat_ratio) {
  const int cell = get_global_id(0);
  if (cell >= cells) return;
  float speeds = 0.0f;
  for (int face = 0; face < FACES; ++face) {
    speeds += wave_speed(state[cell], normals[face * cells + cell], heat_ratio);
  }
  factors[cell] = courant / speeds;
}

// The flow out of each cell (Rusanov's flux).
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void outflows(__global float4* restrict flows, __global const float4* restrict state,
              __global const int* restrict neighbours, __global const float2* restrict normals,
              const int cells, const float4 far_field, const float heat_ratio) {
  const int cell = get_global_id(0);
  if (cell >= cells) return;
  const float4 here = state[cell];
  float4 sum = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
  for (int face = 0; face < FACES; ++face) {
    const float2 normal = normals[face * cells + cell];
    const int neighbour = neighbours[face * cells + cell];
    float4 there = far_field;  // Unless there is a neighbour, or a wall.
    if (neighbour >= 0) there = state[neighbour];
    if (neighbour == WALL) there = mirrored(here, normal);
    const float fastest = fmax(wave_speed(here, normal, heat_ratio), wave_speed(there, normal, heat_ratio));
    sum += 0.5f * (flux(here, normal, heat_ratio) + flux(there, normal, heat_ratio) -
                   fastest * (there - here));
  }
  flows[cell] = sum;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void advance(__global float4* restrict after, __global const float4* restrict before,
             __global const float* restrict factors, __global const float4* restrict flows, const int cells,
             const float stage) {
  const int cell = get_global_id(0);
  if (cell < cells) after[cell] = before[cell] - stage * factors[cell] * flows[cell];
}
)";

class Cfd : public Workload {
 public:
  using Problem = CfdProblem;

  Cfd(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        cells_(problem_.mesh.cells),
        start_(device.upload(problem_.start)),
        neighbours_(device.upload(problem_.mesh.neighbours)),
        normals_(device.upload(problem_.mesh.normals)),
        state_(device.buffer<cl_float4>(cells_)),
        before_(device.buffer<cl_float4>(cells_)),
        flows_(device.buffer<cl_float4>(cells_)),
        factors_(device.buffer<float>(cells_)),
        program_(device.build(kSource)),
        step_factors_(device.kernel(program_, "step_factors")),
        outflows_(device.kernel(program_, "outflows")),
        advance_(device.kernel(program_, "advance")) {
    const auto cells = static_cast<cl_int>(cells_);
    const auto& far = Problem::kFarField;
    const cl_float4 far_field = {{far[0], far[1], far[2], far[3]}};
    set_arguments(step_factors_, factors_, state_, normals_, cells, Problem::kCourant, Problem::kHeatRatio);
    set_arguments(outflows_, flows_, state_, neighbours_, normals_, cells, far_field, Problem::kHeatRatio);
  }

  void enqueue_round() override {
    launcher_.copy(start_, state_, cells_ * sizeof(cl_float4));
    for (std::size_t step = 0; step < Problem::kSteps; ++step) {
      launcher_.copy(state_, before_, cells_ * sizeof(cl_float4));
      launch(step_factors_);
      for (const float stage : Problem::kStages) {
        launch(outflows_);
        set_arguments(advance_, state_, before_, factors_, flows_, static_cast<cl_int>(cells_), stage);
        launch(advance_);
      }
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    for (const Buffer* each : {&state_, &before_, &flows_}) {
      launcher_.fill(*each, std::nanf(""), Problem::kVariables * cells_);
    }
    launcher_.fill(factors_, std::nanf(""), cells_);
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<float>(state_, Problem::kVariables * cells_));
  }

 private:
  void launch(const Kernel& kernel) {
    launcher_.launch(kernel, {problem_.groups() * Problem::kGroup, 1}, {Problem::kGroup, 1});
  }

  Launcher& launcher_;
  Problem problem_;
  const std::size_t cells_;
  const Buffer start_;
  const Buffer neighbours_;
  const Buffer normals_;
  const Buffer state_;
  const Buffer before_;
  const Buffer flows_;
  const Buffer factors_;
  const Program program_;
  const Kernel step_factors_;
  const Kernel outflows_;
  const Kernel advance_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<Cfd>(kCfd, argc, argv);
}
