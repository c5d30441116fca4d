// srad: speckle-reducing anisotropic diffusion (Yu and Acton, 2002). Every iteration reduces the image to its
// mean and variance, reads them back, and diffuses with a coefficient the host derives from them: three short
// kernels and one small blocking read, so the host is in the loop all the time.

#include <cmath>

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/launcher.hpp"
#include "tests/workloads/support/verify.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {
namespace {

constexpr std::size_t kIterations = 4;
constexpr std::size_t kGroup = 128;
constexpr std::size_t kReduceGroups = 16;
constexpr float kTimeStep = 0.5F;

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

/// The squared coefficient of variation of the whole image: how strong the speckle is.
double speckle_of(double sum, double sum_of_squares, std::size_t pixels) {
  const double mean = sum / static_cast<double>(pixels);
  const double variance = sum_of_squares / static_cast<double>(pixels) - mean * mean;
  return variance / (mean * mean);
}

/// The same diffusion on the host, in double precision.
class HostImage {
 public:
  HostImage(const std::vector<float>& pixels, std::size_t side)
      : side_(side), pixels_(pixels.begin(), pixels.end()), coefficients_(pixels.size()) {}

  void iterate() {
    double sum = 0.0;
    double sum_of_squares = 0.0;
    for (const double pixel : pixels_) {
      sum += pixel;
      sum_of_squares += pixel * pixel;
    }
    const double speckle = speckle_of(sum, sum_of_squares, pixels_.size());
    std::vector<double> after(pixels_.size());
    for_each_pixel([&](std::size_t row, std::size_t column) { set_coefficient(row, column, speckle); });
    for_each_pixel(
        [&](std::size_t row, std::size_t column) { after[row * side_ + column] = diffused(row, column); });
    pixels_.swap(after);
  }

  const std::vector<double>& pixels() const { return pixels_; }

 private:
  struct Differences {
    double north, south, west, east;
  };

  template <typename Visit>
  void for_each_pixel(Visit visit) const {
    for (std::size_t row = 0; row < side_; ++row) {
      for (std::size_t column = 0; column < side_; ++column) visit(row, column);
    }
  }

  std::size_t below(std::size_t row) const { return row + 1 < side_ ? row + 1 : row; }
  std::size_t above(std::size_t row) const { return row > 0 ? row - 1 : row; }

  Differences differences(std::size_t row, std::size_t column) const {
    const double here = pixels_[row * side_ + column];
    return {pixels_[above(row) * side_ + column] - here, pixels_[below(row) * side_ + column] - here,
            pixels_[row * side_ + above(column)] - here, pixels_[row * side_ + below(column)] - here};
  }

  void set_coefficient(std::size_t row, std::size_t column, double speckle) {
    const double here = pixels_[row * side_ + column];
    const auto [north, south, west, east] = differences(row, column);
    const double gradient = (north * north + south * south + west * west + east * east) / (here * here);
    const double laplacian = (north + south + west + east) / here;
    const double base = 1.0 + 0.25 * laplacian;
    const double variation = (0.5 * gradient - laplacian * laplacian / 16.0) / (base * base);
    const double coefficient = 1.0 / (1.0 + (variation - speckle) / (speckle * (1.0 + speckle)));
    coefficients_[row * side_ + column] = std::min(std::max(coefficient, 0.0), 1.0);
  }

  double diffused(std::size_t row, std::size_t column) const {
    const auto [north, south, west, east] = differences(row, column);
    const double here = coefficients_[row * side_ + column];
    const double divergence = here * north + coefficients_[below(row) * side_ + column] * south +
                              here * west + coefficients_[row * side_ + below(column)] * east;
    return pixels_[row * side_ + column] + 0.25 * static_cast<double>(kTimeStep) * divergence;
  }

  const std::size_t side_;
  std::vector<double> pixels_;
  std::vector<double> coefficients_;
};

class Srad : public Workload {
 public:
  Srad(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        side_(parameters.size),
        pixels_(side_ * side_),
        host_image_(random_floats(pixels_, 1.0F, 2.718F, parameters.seed)),
        original_(device.upload(host_image_)),
        image_(device.buffer<float>(pixels_)),
        diffused_(device.buffer<float>(pixels_)),
        coefficient_(device.buffer<float>(pixels_)),
        sums_(device.buffer<cl_float2>(kReduceGroups)),
        program_(device.build(kSource)),
        reduce_(device.kernel(program_, "reduce")),
        coefficients_(device.kernel(program_, "coefficients")),
        diffuse_(device.kernel(program_, "diffuse")) {}

  void enqueue_round() override {
    launcher_.copy(original_, image_, pixels_ * sizeof(float));
    const Buffer* before = &image_;
    const Buffer* after = &diffused_;
    for (std::size_t iteration = 0; iteration < kIterations; ++iteration) {
      iterate(*before, *after);
      std::swap(before, after);
    }
  }

  double work_per_round() const override { return static_cast<double>(pixels_ * kIterations) / 1e6; }

  void poison() override {
    launcher_.fill(image_, std::nanf(""), pixels_);
    launcher_.fill(diffused_, std::nanf(""), pixels_);
    launcher_.fill(coefficient_, std::nanf(""), pixels_);
  }

  std::optional<std::string> find_mismatch() override {
    if (expected_.empty()) {
      HostImage image(host_image_, side_);
      for (std::size_t iteration = 0; iteration < kIterations; ++iteration) image.iterate();
      expected_ = image.pixels();
    }
    // Where 1 + excess is close to zero the coefficient is steep in it and single precision shows.
    static_assert(kIterations % 2 == 0, "the result is in image_");
    return compare("pixel", launcher_.read<float>(image_, pixels_), expected_, {0.0, 1e-3});
  }

 private:
  void iterate(const Buffer& before, const Buffer& after) {
    const Range every_pixel = {pixels_, 1};
    set_arguments(reduce_, sums_, before, static_cast<cl_int>(pixels_));
    launcher_.launch(reduce_, {kReduceGroups * kGroup, 1}, {kGroup, 1});
    double sum = 0.0;
    double sum_of_squares = 0.0;
    for (const cl_float2& partial : launcher_.read<cl_float2>(sums_, kReduceGroups)) {
      sum += static_cast<double>(partial.s[0]);
      sum_of_squares += static_cast<double>(partial.s[1]);
    }
    const auto speckle = static_cast<cl_float>(speckle_of(sum, sum_of_squares, pixels_));
    set_arguments(coefficients_, coefficient_, before, static_cast<cl_int>(side_), speckle);
    launcher_.launch(coefficients_, every_pixel, {kGroup, 1});
    set_arguments(diffuse_, after, before, coefficient_, static_cast<cl_int>(side_), kTimeStep);
    launcher_.launch(diffuse_, every_pixel, {kGroup, 1});
  }

  Launcher& launcher_;
  const std::size_t side_;
  const std::size_t pixels_;
  const std::vector<float> host_image_;
  const Buffer original_;
  const Buffer image_;
  const Buffer diffused_;
  const Buffer coefficient_;
  const Buffer sums_;
  const Program program_;
  const Kernel reduce_;
  const Kernel coefficients_;
  const Kernel diffuse_;
  std::vector<double> expected_;
};

const Description kDescription = {
    .name = "srad",
    .unit = "Mpixel/s",
    .size_meaning = "rows and columns of the image",
    .default_size = 128,
    .size_multiple = 16,
    .maximum_size = 8192,
    .cost_exponent = 2.0,
    .default_sync = SyncMode::kEvery,
    .default_batch = 12,
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_workload<Srad>(kDescription, argc, argv);
}
