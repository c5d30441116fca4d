// hotspot: temperature of a chip from the power its parts draw, by explicit time steps of a five-point
// stencil that alternate between two buffers. A round is one short simulation from the same start; its
// launches are asynchronous.

#include <cmath>

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/launcher.hpp"
#include "tests/workloads/support/verify.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {
namespace {

constexpr std::size_t kTile = 16;
constexpr std::size_t kSteps = 8;  // Even: the result is in the second of the two alternating buffers.

// One time step: conductances to the neighbours along each axis and to the ambient, all times the step over
// the heat capacity of a cell. Their sum (twice each axis, once the ambient) is below 1, so the step is
// stable.
constexpr float kAlongRows = 0.11F;
constexpr float kAlongColumns = 0.13F;
constexpr float kToAmbient = 0.02F;
constexpr float kPowerToHeat = 0.5F;
constexpr float kAmbient = 80.0F;

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
  Hotspot(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        side_(parameters.size),
        host_start_(random_floats(side_ * side_, 60.0F, 120.0F, parameters.seed)),
        host_power_(random_floats(side_ * side_, 0.0F, 2.0F, parameters.seed + 1)),
        start_(device.upload(host_start_)),
        power_(device.upload(host_power_)),
        odd_(device.buffer<float>(side_ * side_)),
        even_(device.buffer<float>(side_ * side_)),
        program_(device.build(kSource)),
        first_(step_kernel(device, odd_, start_)),
        to_even_(step_kernel(device, even_, odd_)),
        to_odd_(step_kernel(device, odd_, even_)) {}

  void enqueue_round() override {
    launcher_.launch(first_, {side_, side_}, {kTile, kTile});
    for (std::size_t step = 1; step < kSteps; ++step) {
      launcher_.launch(step % 2 == 1 ? to_even_ : to_odd_, {side_, side_}, {kTile, kTile});
    }
  }

  double work_per_round() const override { return static_cast<double>(side_ * side_ * kSteps) / 1e6; }

  void poison() override {
    launcher_.fill(odd_, std::nanf(""), side_ * side_);
    launcher_.fill(even_, std::nanf(""), side_ * side_);
  }

  std::optional<std::string> find_mismatch() override {
    if (expected_.empty()) simulate_on_host();
    // Eight steps in single precision on values up to about 130.
    return compare("temperature", launcher_.read<float>(even_, side_ * side_), expected_, {1e-4, 1e-5});
  }

 private:
  Kernel step_kernel(const Device& device, const Buffer& after, const Buffer& before) const {
    Kernel kernel = device.kernel(program_, "advance");
    set_arguments(kernel, after, before, power_, static_cast<cl_int>(side_), kAlongRows, kAlongColumns,
                  kToAmbient, kPowerToHeat, kAmbient);
    return kernel;
  }

  void simulate_on_host() {
    std::vector<double> before(host_start_.begin(), host_start_.end());
    std::vector<double> after(before.size());
    for (std::size_t step = 0; step < kSteps; ++step) {
      for (std::size_t row = 0; row < side_; ++row) {
        for (std::size_t column = 0; column < side_; ++column) {
          after[row * side_ + column] = cell_after_step(before, row, column);
        }
      }
      before.swap(after);
    }
    expected_ = before;
  }

  double cell_after_step(const std::vector<double>& before, std::size_t row, std::size_t column) const {
    const std::size_t cell = row * side_ + column;
    const double here = before[cell];
    const double west = column > 0 ? before[cell - 1] : here;
    const double east = column + 1 < side_ ? before[cell + 1] : here;
    const double north = row > 0 ? before[cell - side_] : here;
    const double south = row + 1 < side_ ? before[cell + side_] : here;
    return here + static_cast<double>(kPowerToHeat) * host_power_[cell] +
           static_cast<double>(kAlongRows) * (west + east - 2.0 * here) +
           static_cast<double>(kAlongColumns) * (north + south - 2.0 * here) +
           static_cast<double>(kToAmbient) * (static_cast<double>(kAmbient) - here);
  }

  Launcher& launcher_;
  const std::size_t side_;
  const std::vector<float> host_start_;
  const std::vector<float> host_power_;
  const Buffer start_;
  const Buffer power_;
  const Buffer odd_;
  const Buffer even_;
  const Program program_;
  const Kernel first_;
  const Kernel to_even_;
  const Kernel to_odd_;
  std::vector<double> expected_;
};

const Description kDescription = {
    .name = "hotspot",
    .unit = "Mcell/s",
    .size_meaning = "rows and columns of the grid",
    .default_size = 160,
    .size_multiple = kTile,
    .maximum_size = 8192,
    .cost_exponent = 2.0,
    .default_sync = SyncMode::kBatch,
    .default_batch = 16,
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_workload<Hotspot>(kDescription, argc, argv);
}
