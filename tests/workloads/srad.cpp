// srad: speckle-reducing anisotropic diffusion (Yu and Acton, 2002). Every iteration reduces the image to its
// mean and variance, reads them back, and diffuses with a coefficient the host derives from them: three short
// kernels and one small blocking read, so the host is in the loop all the time.

#include <cmath>

#include "tests/workloads/problems/rodinia/srad.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

constexpr const char* kSource = R"(
#define GROUP 128

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce(__global float2* restrict sums, __global const float* restrict image, const int pixels) {
  __local float2 partial[GROUP];
  const int item = get_local_id(0);
  float2 sum = (float2)(0.0f, 0.0f);
  for (int pixel = get_global_id(0); pixel < pixels; pixel += get_global_size(0)) {
    const float value = image[pixel];
    sum += (float2)(value, value * value);
  }
  partial[item] = sum;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) partial[item] += partial[item + width];
  }
  if (item == 0) sums[get_group_id(0)] = partial[0];
}

float4 differences(__global const float* image, const int row, const int column, const int side) {
  const float here = image[row * side + column];
  return (float4)(image[max(row - 1, 0) * side + column], image[min(row + 1, side - 1) * side + column],
                  image[row * side + max(column - 1, 0)], image[row * side + min(column + 1, side - 1)]) -
         (float4)(here, here, here, here);
}

__kernel void coefficients(__global float* restrict coefficient, __global const float* restrict image,
                           const int side, const float speckle) {
  const int pixel = get_global_id(0);
  const float here = image[pixel];
  const float4 to_neighbours = differences(image, pixel / side, pixel % side, side);
  const float gradient = dot(to_neighbours, to_neighbours) / (here * here);
  const float laplacian = dot(to_neighbours, (float4)(1.0f, 1.0f, 1.0f, 1.0f)) / here;
  const float base = 1.0f + 0.25f * laplacian;
  const float variation = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (base * base);
  const float excess = (variation - speckle) / (speckle * (1.0f + speckle));
  coefficient[pixel] = clamp(1.0f / (1.0f + excess), 0.0f, 1.0f);
}

__kernel void diffuse(__global float* restrict after, __global const float* restrict before,
                      __global const float* restrict coefficient, const int side, const float time_step) {
  const int pixel = get_global_id(0);
  const int row = pixel / side;
  const int column = pixel % side;
  const float here = coefficient[pixel];
  const float south = coefficient[min(row + 1, side - 1) * side + column];
  const float east = coefficient[row * side + min(column + 1, side - 1)];
  const float4 to_neighbours = differences(before, row, column, side);
  after[pixel] =
      before[pixel] + 0.25f * time_step * dot((float4)(here, south, here, east), to_neighbours);
}
)";

class Srad : public Workload {
 public:
  using Problem = SradProblem;

  Srad(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        pixels_(problem_.pixels),
        original_(device.upload(problem_.image)),
        image_(device.buffer<float>(pixels_)),
        diffused_(device.buffer<float>(pixels_)),
        coefficient_(device.buffer<float>(pixels_)),
        sums_(device.buffer<cl_float2>(Problem::kReduceGroups)),
        program_(device.build(kSource)),
        reduce_(device.kernel(program_, "reduce")),
        coefficients_(device.kernel(program_, "coefficients")),
        diffuse_(device.kernel(program_, "diffuse")) {}

  void enqueue_round() override {
    launcher_.copy(original_, image_, pixels_ * sizeof(float));
    const Buffer* before = &image_;
    const Buffer* after = &diffused_;
    for (std::size_t iteration = 0; iteration < Problem::kIterations; ++iteration) {
      iterate(*before, *after);
      std::swap(before, after);
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    launcher_.fill(image_, std::nanf(""), pixels_);
    launcher_.fill(diffused_, std::nanf(""), pixels_);
    launcher_.fill(coefficient_, std::nanf(""), pixels_);
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<float>(image_, pixels_));
  }

 private:
  void iterate(const Buffer& before, const Buffer& after) {
    const Range every_pixel = {pixels_, 1};
    set_arguments(reduce_, sums_, before, static_cast<cl_int>(pixels_));
    launcher_.launch(reduce_, {Problem::kReduceGroups * Problem::kGroup, 1}, {Problem::kGroup, 1});
    double sum = 0.0;
    double sum_of_squares = 0.0;
    for (const cl_float2& partial : launcher_.read<cl_float2>(sums_, Problem::kReduceGroups)) {
      sum += static_cast<double>(partial.s[0]);
      sum_of_squares += static_cast<double>(partial.s[1]);
    }
    const auto speckle = static_cast<cl_float>(Problem::speckle_of(sum, sum_of_squares, pixels_));
    set_arguments(coefficients_, coefficient_, before, static_cast<cl_int>(problem_.side), speckle);
    launcher_.launch(coefficients_, every_pixel, {Problem::kGroup, 1});
    set_arguments(diffuse_, after, before, coefficient_, static_cast<cl_int>(problem_.side),
                  Problem::kTimeStep);
    launcher_.launch(diffuse_, every_pixel, {Problem::kGroup, 1});
  }

  Launcher& launcher_;
  Problem problem_;
  const std::size_t pixels_;
  const Buffer original_;
  const Buffer image_;
  const Buffer diffused_;
  const Buffer coefficient_;
  const Buffer sums_;
  const Program program_;
  const Kernel reduce_;
  const Kernel coefficients_;
  const Kernel diffuse_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<Srad>(kSrad, argc, argv);
}
