// convolutionSeparable: an image convolved with a 17 x 17 filter that is the product of a row and a column
// filter: one pass along the rows, one along the columns, tiles with their halo in local memory. Two launches
// per round, asynchronous.

#include <algorithm>
#include <cmath>

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/launcher.hpp"
#include "tests/workloads/support/verify.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {
namespace {

constexpr std::size_t kTile = 16;
constexpr std::size_t kRadius = 8;
constexpr std::size_t kTaps = 2 * kRadius + 1;

constexpr const char* kSource = R"(
#define TILE 16
#define RADIUS 8

// Outside of the image there is black.
float pixel_at(__global const float* image, const int row, const int column, const int side) {
  return row >= 0 && row < side && column >= 0 && column < side ? image[row * side + column] : 0.0f;
}

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void convolve_rows(__global float* restrict output, __global const float* restrict input,
                  __constant float* filter, const int side) {
  __local float tile[TILE][TILE + 2 * RADIUS];
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int column = get_global_id(0);
  const int row = get_global_id(1);
  tile[y][x] = pixel_at(input, row, column - RADIUS, side);
  tile[y][x + TILE] = pixel_at(input, row, column - RADIUS + TILE, side);
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
#pragma unroll
  for (int tap = 0; tap <= 2 * RADIUS; ++tap) sum += filter[tap] * tile[y][x + tap];
  output[row * side + column] = sum;
}

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void convolve_columns(__global float* restrict output, __global const float* restrict input,
                     __constant float* filter, const int side) {
  __local float tile[TILE + 2 * RADIUS][TILE];
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int column = get_global_id(0);
  const int row = get_global_id(1);
  tile[y][x] = pixel_at(input, row - RADIUS, column, side);
  tile[y + TILE][x] = pixel_at(input, row - RADIUS + TILE, column, side);
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
#pragma unroll
  for (int tap = 0; tap <= 2 * RADIUS; ++tap) sum += filter[tap] * tile[y + tap][x];
  output[row * side + column] = sum;
}
)";
static_assert(2 * kRadius == kTile, "a work-group loads its tile with the halo in two steps");

class ConvolutionSeparable : public Workload {
 public:
  ConvolutionSeparable(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        side_(parameters.size),
        host_image_(random_floats(side_ * side_, 0.0F, 1.0F, parameters.seed)),
        host_row_filter_(random_floats(kTaps, -1.0F, 1.0F, parameters.seed + 1)),
        host_column_filter_(random_floats(kTaps, -1.0F, 1.0F, parameters.seed + 2)),
        image_(device.upload(host_image_)),
        row_filter_(device.upload(host_row_filter_)),
        column_filter_(device.upload(host_column_filter_)),
        rows_done_(device.buffer<float>(side_ * side_)),
        result_(device.buffer<float>(side_ * side_)),
        program_(device.build(kSource)),
        rows_(device.kernel(program_, "convolve_rows")),
        columns_(device.kernel(program_, "convolve_columns")) {
    set_arguments(rows_, rows_done_, image_, row_filter_, static_cast<cl_int>(side_));
    set_arguments(columns_, result_, rows_done_, column_filter_, static_cast<cl_int>(side_));
  }

  void enqueue_round() override {
    launcher_.launch(rows_, {side_, side_}, {kTile, kTile});
    launcher_.launch(columns_, {side_, side_}, {kTile, kTile});
  }

  double work_per_round() const override { return static_cast<double>(side_ * side_) / 1e6; }

  void poison() override {
    launcher_.fill(rows_done_, std::nanf(""), side_ * side_);
    launcher_.fill(result_, std::nanf(""), side_ * side_);
  }

  std::optional<std::string> find_mismatch() override {
    if (expected_.empty()) convolve_on_host();
    // Two sums of 17 single-precision products; their values stay below 17 x 17.
    return compare("pixel", launcher_.read<float>(result_, side_ * side_), expected_, {5e-5, 1e-5});
  }

 private:
  void convolve_on_host() {
    std::vector<double> rows_done(side_ * side_, 0.0);
    expected_.assign(side_ * side_, 0.0);
    for (std::size_t row = 0; row < side_; ++row) {
      for (std::size_t column = 0; column < side_; ++column) {
        const auto [first, last] = taps_inside(column);
        for (std::size_t tap = first; tap < last; ++tap) {
          rows_done[row * side_ + column] +=
              static_cast<double>(host_row_filter_[tap]) * host_image_[row * side_ + column + tap - kRadius];
        }
      }
    }
    for (std::size_t row = 0; row < side_; ++row) {
      const auto [first, last] = taps_inside(row);
      for (std::size_t tap = first; tap < last; ++tap) {
        for (std::size_t column = 0; column < side_; ++column) {
          expected_[row * side_ + column] += static_cast<double>(host_column_filter_[tap]) *
                                             rows_done[(row + tap - kRadius) * side_ + column];
        }
      }
    }
  }

  /// The taps (first, one past the last) that fall inside the image around `position`.
  std::pair<std::size_t, std::size_t> taps_inside(std::size_t position) const {
    return {position < kRadius ? kRadius - position : 0, std::min(kTaps, side_ + kRadius - position)};
  }

  Launcher& launcher_;
  const std::size_t side_;
  const std::vector<float> host_image_;
  const std::vector<float> host_row_filter_;
  const std::vector<float> host_column_filter_;
  const Buffer image_;
  const Buffer row_filter_;
  const Buffer column_filter_;
  const Buffer rows_done_;
  const Buffer result_;
  const Program program_;
  const Kernel rows_;
  const Kernel columns_;
  std::vector<double> expected_;
};

const Description kDescription = {
    .name = "convolutionSeparable",
    .unit = "Mpixel/s",
    .size_meaning = "rows and columns of the image",
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
  return run_workload<ConvolutionSeparable>(kDescription, argc, argv);
}
