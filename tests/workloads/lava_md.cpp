// lavaMD: potential and field of charged particles in boxes. One long kernel, in which each work-group takes
// the particles of one box and goes through the boxes around it. The host does nothing meanwhile.

#include <cmath>

#include "tests/workloads/problems/rodinia/lava_md.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

constexpr const char* kSource = R"(
#define PARTICLES 64
#define ACROSS 4

// Particles are (x, y, z, charge), results the field along x, y and z, and the potential.
__kernel __attribute__((reqd_work_group_size(PARTICLES, 1, 1)))
void interact(__global float4* restrict fields, __global const float4* restrict particles, const int layers,
              const float screening, const float softening) {
  __local float4 others[PARTICLES];
  const int item = get_local_id(0);
  const int box = get_group_id(0);
  const int x = box % ACROSS;
  const int y = box / ACROSS % ACROSS;
  const int layer = box / (ACROSS * ACROSS);

  const float4 mine = particles[box * PARTICLES + item];
  float4 sum = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
  for (int k = max(layer - 1, 0); k <= min(layer + 1, layers - 1); ++k) {
    for (int j = max(y - 1, 0); j <= min(y + 1, ACROSS - 1); ++j) {
      for (int i = max(x - 1, 0); i <= min(x + 1, ACROSS - 1); ++i) {
        barrier(CLK_LOCAL_MEM_FENCE);
        others[item] = particles[((k * ACROSS + j) * ACROSS + i) * PARTICLES + item];
        barrier(CLK_LOCAL_MEM_FENCE);
        // A particle is its own neighbour, too: it adds a constant to its potential.
        for (int other = 0; other < PARTICLES; ++other) {
          const float4 influence = others[other];
          const float3 to = mine.xyz - influence.xyz;
          const float square = dot(to, to) + softening * softening;
          const float nearness = rsqrt(square);
          const float potential = influence.w * exp(-screening * square * nearness) * nearness;
          sum += potential * (float4)(to * ((screening + nearness) * nearness), 1.0f);
        }
      }
    }
  }
  fields[box * PARTICLES + item] = sum;
}
)";

class LavaMd : public Workload {
 public:
  using Problem = LavaMdProblem;

  LavaMd(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        values_(problem_.particles.size()),
        particles_(device.upload(problem_.particles)),
        fields_(device.buffer<float>(values_)),
        program_(device.build(kSource)),
        interact_(device.kernel(program_, "interact")) {
    set_arguments(interact_, fields_, particles_, static_cast<cl_int>(problem_.layers), Problem::kScreening,
                  Problem::kSoftening);
  }

  void enqueue_round() override {
    launcher_.launch(interact_, {problem_.boxes * Problem::kParticles, 1}, {Problem::kParticles, 1});
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { launcher_.fill(fields_, std::nanf(""), values_); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<float>(fields_, values_));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const std::size_t values_;
  const Buffer particles_;
  const Buffer fields_;
  const Program program_;
  const Kernel interact_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<LavaMd>(kLavaMd, argc, argv);
}
