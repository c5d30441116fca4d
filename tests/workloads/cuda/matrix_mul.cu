// matrixMul in CUDA: see problems/matrix_mul.hpp and the OpenCL program, whose blocks do the same work.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/matrix_mul.hpp"

namespace workloads::cuda {
namespace {

__device__ void add_product(float4& sum, float factor, const float4& row) {
  sum.x += factor * row.x;
  sum.y += factor * row.y;
  sum.z += factor * row.z;
  sum.w += factor * row.w;
}

// A thread computes four neighbouring elements of one row.
template <int kTile>
__global__ void __launch_bounds__(kTile* kTile / 4)
    multiply(float4* __restrict__ product, const float4* __restrict__ left, const float4* __restrict__ right,
             int side, int inner) {
  constexpr int kVectors = kTile / 4;  // across a tile
  __shared__ float4 left_tile[kTile][kVectors];
  __shared__ float4 right_tile[kTile][kVectors];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int column = blockIdx.x * blockDim.x + x;
  const int row = blockIdx.y * blockDim.y + y;
  const int pitch = side / 4;
  const int left_pitch = inner / 4;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int tile = 0; tile < left_pitch; tile += kVectors) {
    left_tile[y][x] = left[row * left_pitch + tile + x];
    right_tile[y][x] = right[(tile * 4 + y) * pitch + column];
    __syncthreads();
    for (int k = 0; k < kVectors; ++k) {
      const float4 factors = left_tile[y][k];
      add_product(sum, factors.x, right_tile[4 * k][x]);
      add_product(sum, factors.y, right_tile[4 * k + 1][x]);
      add_product(sum, factors.z, right_tile[4 * k + 2][x]);
      add_product(sum, factors.w, right_tile[4 * k + 3][x]);
    }
    __syncthreads();
  }
  product[row * pitch + column] = sum;
}

class MatrixMul : public Workload {
 public:
  MatrixMul(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        kernel_(kernel_of(problem_.tile)),
        left_(problem_.left),
        right_(problem_.right),
        product_(problem_.side * problem_.side / MatrixMulProblem::kLanes) {
    launcher_.load(kernel_);
  }

  void enqueue_round() override {
    constexpr unsigned kLanes = MatrixMulProblem::kLanes;
    const auto tile = static_cast<unsigned>(problem_.tile);
    const auto tiles = static_cast<unsigned>(problem_.side / problem_.tile);
    launcher_.launch(kernel_, {tiles, tiles}, {tile / kLanes, tile}, product_.get(), left_.get(),
                     right_.get(), problem_.side, problem_.inner);
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { product_.fill(0xff, launcher_.stream()); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(product_.read<float>(launcher_.stream()));
  }

 private:
  using Kernel = void (*)(float4*, const float4*, const float4*, int, int);

  static Kernel kernel_of(std::size_t tile) {
    return tile == 8 ? multiply<8> : tile == 16 ? multiply<16> : multiply<32>;
  }

  Launcher& launcher_;
  MatrixMulProblem problem_;
  const Kernel kernel_;
  const DeviceArray<float4> left_;
  const DeviceArray<float4> right_;
  DeviceArray<float4> product_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::MatrixMul>(workloads::kMatrixMul, argc, argv);
}
