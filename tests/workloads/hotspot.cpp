// hotspot: temperature of a chip from the power its parts draw, by explicit time steps of a five-point
// stencil that alternate between two buffers. A round is one short simulation from the same start; its
// launches are asynchronous.

#include <cmath>

#include "tests/workloads/problems/rodinia/hotspot.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

constexpr const char* kSource = R"(
#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void advance(__global float* restrict after, __global const float* restrict before,
          __global const float* restrict power, const int side, const float along_rows,
          const float along_columns, const float to_ambient, const float power_to_heat, const float ambient) {
  __local float tile[TILE + 2][TILE + 2];
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int column = get_global_id(0);
  const int row = get_global_id(1);
  const int cell = row * side + column;

  // The edge of the chip exchanges no heat: a neighbour outside counts as equally warm.
  tile[y + 1][x + 1] = before[cell];
  if (x == 0) tile[y + 1][0] = before[row * side + max(column - 1, 0)];
  if (x == TILE - 1) tile[y + 1][TILE + 1] = before[row * side + min(column + 1, side - 1)];
  if (y == 0) tile[0][x + 1] = before[max(row - 1, 0) * side + column];
  if (y == TILE - 1) tile[TILE + 1][x + 1] = before[min(row + 1, side - 1) * side + column];
  barrier(CLK_LOCAL_MEM_FENCE);

  const float here = tile[y + 1][x + 1];
  after[cell] = here + power_to_heat * power[cell] +
                along_rows * (tile[y + 1][x] + tile[y + 1][x + 2] - 2.0f * here) +
                along_columns * (tile[y][x + 1] + tile[y + 2][x + 1] - 2.0f * here) +
                to_ambient * (ambient - here);
}
)";

class Hotspot : public Workload {
 public:
  using Problem = HotspotProblem;

  Hotspot(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        cells_(problem_.side * problem_.side),
        start_(device.upload(problem_.start)),
        power_(device.upload(problem_.power)),
        odd_(device.buffer<float>(cells_)),
        even_(device.buffer<float>(cells_)),
        program_(device.build(kSource)),
        first_(step_kernel(device, odd_, start_)),
        to_even_(step_kernel(device, even_, odd_)),
        to_odd_(step_kernel(device, odd_, even_)) {}

  void enqueue_round() override {
    launch(first_);
    for (std::size_t step = 1; step < Problem::kSteps; ++step) launch(step % 2 == 1 ? to_even_ : to_odd_);
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    launcher_.fill(odd_, std::nanf(""), cells_);
    launcher_.fill(even_, std::nanf(""), cells_);
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<float>(even_, cells_));
  }

 private:
  Kernel step_kernel(const Device& device, const Buffer& after, const Buffer& before) const {
    Kernel kernel = device.kernel(program_, "advance");
    set_arguments(kernel, after, before, power_, static_cast<cl_int>(problem_.side), Problem::kAlongRows,
                  Problem::kAlongColumns, Problem::kToAmbient, Problem::kPowerToHeat, Problem::kAmbient);
    return kernel;
  }

  void launch(const Kernel& step) {
    launcher_.launch(step, {problem_.side, problem_.side}, {Problem::kTile, Problem::kTile});
  }

  Launcher& launcher_;
  Problem problem_;
  const std::size_t cells_;
  const Buffer start_;
  const Buffer power_;
  const Buffer odd_;
  const Buffer even_;
  const Program program_;
  const Kernel first_;
  const Kernel to_even_;
  const Kernel to_odd_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<Hotspot>(kHotspot, argc, argv);
}
