// convolutionSeparable in CUDA: see problems/convolution_separable.hpp and the OpenCL program, whose blocks
// do the same work. The filters lie in constant memory.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/convolution_separable.hpp"

namespace workloads::cuda {
namespace {

constexpr int kTile = ConvolutionSeparableProblem::kTile;
constexpr int kRadius = ConvolutionSeparableProblem::kRadius;
constexpr int kTaps = ConvolutionSeparableProblem::kTaps;

__constant__ float row_filter[kTaps];
__constant__ float column_filter[kTaps];

// Outside of the image there is black.
__device__ float pixel_at(const float* image, int row, int column, int side) {
  return row >= 0 && row < side && column >= 0 && column < side ? image[row * side + column] : 0.0f;
}

__global__ void __launch_bounds__(kTile* kTile)
    convolve_rows(float* __restrict__ output, const float* __restrict__ input, int side) {
  __shared__ float tile[kTile][kTile + 2 * kRadius];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int column = blockIdx.x * kTile + x;
  const int row = blockIdx.y * kTile + y;
  tile[y][x] = pixel_at(input, row, column - kRadius, side);
  tile[y][x + kTile] = pixel_at(input, row, column - kRadius + kTile, side);
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) sum += row_filter[tap] * tile[y][x + tap];
  output[row * side + column] = sum;
}

__global__ void __launch_bounds__(kTile* kTile)
    convolve_columns(float* __restrict__ output, const float* __restrict__ input, int side) {
  __shared__ float tile[kTile + 2 * kRadius][kTile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int column = blockIdx.x * kTile + x;
  const int row = blockIdx.y * kTile + y;
  tile[y][x] = pixel_at(input, row - kRadius, column, side);
  tile[y + kTile][x] = pixel_at(input, row - kRadius + kTile, column, side);
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) sum += column_filter[tap] * tile[y + tap][x];
  output[row * side + column] = sum;
}

class ConvolutionSeparable : public Workload {
 public:
  ConvolutionSeparable(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        image_(problem_.image),
        rows_done_(problem_.side * problem_.side),
        result_(problem_.side * problem_.side) {
    launcher_.load(convolve_rows, convolve_columns);
    constexpr std::size_t kBytes = kTaps * sizeof(float);
    check(cudaMemcpyToSymbol(row_filter, problem_.row_filter.data(), kBytes), "cudaMemcpyToSymbol");
    check(cudaMemcpyToSymbol(column_filter, problem_.column_filter.data(), kBytes), "cudaMemcpyToSymbol");
  }

  void enqueue_round() override {
    const auto tiles = static_cast<unsigned>(problem_.side / kTile);
    launcher_.launch(convolve_rows, {tiles, tiles}, {kTile, kTile}, rows_done_.get(), image_.get(),
                     problem_.side);
    launcher_.launch(convolve_columns, {tiles, tiles}, {kTile, kTile}, result_.get(), rows_done_.get(),
                     problem_.side);
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    rows_done_.fill(0xff, launcher_.stream());
    result_.fill(0xff, launcher_.stream());
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(result_.read<float>(launcher_.stream()));
  }

 private:
  Launcher& launcher_;
  ConvolutionSeparableProblem problem_;
  const DeviceArray<float> image_;
  DeviceArray<float> rows_done_;
  DeviceArray<float> result_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  using namespace workloads;
  return cuda::run_cuda<cuda::ConvolutionSeparable>(kConvolutionSeparable, argc, argv);
}
