// srad in CUDA: see problems/rodinia/srad.hpp and the OpenCL program, whose blocks do the same work. The sums
// come back through page-locked memory.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/rodinia/srad.hpp"

namespace workloads::cuda {
namespace {

constexpr int kGroup = SradProblem::kGroup;

__global__ void __launch_bounds__(kGroup)
    reduce(float2* __restrict__ sums, const float* __restrict__ image, int pixels) {
  __shared__ float2 partial[kGroup];
  const int item = threadIdx.x;
  float2 sum = make_float2(0.0f, 0.0f);
  for (int pixel = blockIdx.x * blockDim.x + item; pixel < pixels; pixel += gridDim.x * blockDim.x) {
    const float value = image[pixel];
    sum.x += value;
    sum.y += value * value;
  }
  partial[item] = sum;
  for (int width = kGroup / 2; width > 0; width /= 2) {
    __syncthreads();
    if (item < width) {
      partial[item].x += partial[item + width].x;
      partial[item].y += partial[item + width].y;
    }
  }
  if (item == 0) sums[blockIdx.x] = partial[0];
}

// To the neighbours in the north, south, west and east.
__device__ float4 differences(const float* image, int row, int column, int side) {
  const float here = image[row * side + column];
  return make_float4(
      image[max(row - 1, 0) * side + column] - here, image[min(row + 1, side - 1) * side + column] - here,
      image[row * side + max(column - 1, 0)] - here, image[row * side + min(column + 1, side - 1)] - here);
}

__global__ void coefficients(float* __restrict__ coefficient, const float* __restrict__ image, int side,
                             float speckle) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  const float here = image[pixel];
  const float4 to = differences(image, pixel / side, pixel % side, side);
  const float gradient = (to.x * to.x + to.y * to.y + to.z * to.z + to.w * to.w) / (here * here);
  const float laplacian = (to.x + to.y + to.z + to.w) / here;
  const float base = 1.0f + 0.25f * laplacian;
  const float variation = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (base * base);
  const float excess = (variation - speckle) / (speckle * (1.0f + speckle));
  coefficient[pixel] = fminf(fmaxf(1.0f / (1.0f + excess), 0.0f), 1.0f);
}

__global__ void diffuse(float* __restrict__ after, const float* __restrict__ before,
                        const float* __restrict__ coefficient, int side, float time_step) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = pixel / side;
  const int column = pixel % side;
  const float here = coefficient[pixel];
  const float south = coefficient[min(row + 1, side - 1) * side + column];
  const float east = coefficient[row * side + min(column + 1, side - 1)];
  const float4 to = differences(before, row, column, side);
  after[pixel] = before[pixel] + 0.25f * time_step * (here * to.x + south * to.y + here * to.z + east * to.w);
}

class Srad : public Workload {
 public:
  using Problem = SradProblem;

  Srad(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        original_(problem_.image),
        image_(problem_.pixels),
        diffused_(problem_.pixels),
        coefficient_(problem_.pixels),
        sums_(Problem::kReduceGroups),
        host_sums_(Problem::kReduceGroups) {
    launcher_.load(reduce, coefficients, diffuse);
  }

  void enqueue_round() override {
    check(cudaMemcpyAsync(image_.get(), original_.get(), image_.bytes(), cudaMemcpyDeviceToDevice,
                          launcher_.stream()),
          "cudaMemcpyAsync");
    float* before = image_.get();
    float* after = diffused_.get();
    for (std::size_t iteration = 0; iteration < Problem::kIterations; ++iteration) {
      iterate(before, after);
      std::swap(before, after);
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    for (DeviceArray<float>* each : {&image_, &diffused_, &coefficient_}) {
      each->fill(0xff, launcher_.stream());
    }
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(image_.read<float>(launcher_.stream()));
  }

 private:
  void iterate(const float* before, float* after) {
    const auto blocks = static_cast<unsigned>(problem_.pixels / kGroup);
    launcher_.launch(reduce, Problem::kReduceGroups, kGroup, sums_.get(), before, problem_.pixels);
    const float speckle = read_speckle();
    launcher_.launch(coefficients, blocks, kGroup, coefficient_.get(), before, problem_.side, speckle);
    launcher_.launch(diffuse, blocks, kGroup, after, before, coefficient_.get(), problem_.side,
                     Problem::kTimeStep);
  }

  float read_speckle() {
    check(cudaMemcpyAsync(host_sums_.get(), sums_.get(), sums_.bytes(), cudaMemcpyDeviceToHost,
                          launcher_.stream()),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(launcher_.stream()), "cudaStreamSynchronize");
    double sum = 0.0;
    double sum_of_squares = 0.0;
    for (const float2& partial : host_sums_) {
      sum += static_cast<double>(partial.x);
      sum_of_squares += static_cast<double>(partial.y);
    }
    return static_cast<float>(Problem::speckle_of(sum, sum_of_squares, problem_.pixels));
  }

  Launcher& launcher_;
  Problem problem_;
  const DeviceArray<float> original_;
  DeviceArray<float> image_;
  DeviceArray<float> diffused_;
  DeviceArray<float> coefficient_;
  DeviceArray<float2> sums_;
  PinnedArray<float2> host_sums_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::Srad>(workloads::kSrad, argc, argv);
}
