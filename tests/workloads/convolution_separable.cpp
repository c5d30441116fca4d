// convolutionSeparable: an image convolved with a 17 x 17 filter that is the product of a row and a column
// filter: one pass along the rows, one along the columns, tiles with their halo in local memory. Two launches
// per round, asynchronous.

#include <cmath>

#include "tests/workloads/problems/convolution_separable.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

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
class ConvolutionSeparable : public Workload {
 public:
  using Problem = ConvolutionSeparableProblem;

  ConvolutionSeparable(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        pixels_(problem_.side * problem_.side),
        image_(device.upload(problem_.image)),
        row_filter_(device.upload(problem_.row_filter)),
        column_filter_(device.upload(problem_.column_filter)),
        rows_done_(device.buffer<float>(pixels_)),
        result_(device.buffer<float>(pixels_)),
        program_(device.build(kSource)),
        rows_(device.kernel(program_, "convolve_rows")),
        columns_(device.kernel(program_, "convolve_columns")) {
    set_arguments(rows_, rows_done_, image_, row_filter_, static_cast<cl_int>(problem_.side));
    set_arguments(columns_, result_, rows_done_, column_filter_, static_cast<cl_int>(problem_.side));
  }

  void enqueue_round() override {
    launcher_.launch(rows_, {problem_.side, problem_.side}, {Problem::kTile, Problem::kTile});
    launcher_.launch(columns_, {problem_.side, problem_.side}, {Problem::kTile, Problem::kTile});
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    launcher_.fill(rows_done_, std::nanf(""), pixels_);
    launcher_.fill(result_, std::nanf(""), pixels_);
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<float>(result_, pixels_));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const std::size_t pixels_;
  const Buffer image_;
  const Buffer row_filter_;
  const Buffer column_filter_;
  const Buffer rows_done_;
  const Buffer result_;
  const Program program_;
  const Kernel rows_;
  const Kernel columns_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<ConvolutionSeparable>(kConvolutionSeparable, argc, argv);
}
