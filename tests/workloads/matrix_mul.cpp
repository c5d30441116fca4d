// matrixMul: C = A x B in single precision, in tiles kept in local memory. One launch per round, launched
// asynchronously. C is square; A and B are as well, unless --inner makes one narrow and the other flat. With
// small tiles that is a grid of many work-groups over matrices that are not large.

#include <cmath>
#include <random>

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/launcher.hpp"
#include "tests/workloads/support/verify.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {
namespace {

constexpr std::size_t kLargestTile = 32;
constexpr std::size_t kLanes = 4;  // Elements per work-item.

constexpr const char* kSource = R"(
#define VECTORS (TILE / 4)  // Vectors of four elements across a tile

// A work-item computes four neighbouring elements of one row.
__kernel __attribute__((reqd_work_group_size(VECTORS, TILE, 1)))
void multiply(__global float4* restrict product, __global const float4* restrict left,
              __global const float4* restrict right, const int side, const int inner) {
  __local float4 left_tile[TILE][VECTORS];
  __local float4 right_tile[TILE][VECTORS];
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int column = get_global_id(0);
  const int row = get_global_id(1);
  const int pitch = side / 4;
  const int left_pitch = inner / 4;
  float4 sum = (float4)(0.0f);
  for (int tile = 0; tile < left_pitch; tile += VECTORS) {
    left_tile[y][x] = left[row * left_pitch + tile + x];
    right_tile[y][x] = right[(tile * 4 + y) * pitch + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < VECTORS; ++k) {
      const float4 factors = left_tile[y][k];
      sum += factors.x * right_tile[4 * k][x] + factors.y * right_tile[4 * k + 1][x] +
             factors.z * right_tile[4 * k + 2][x] + factors.w * right_tile[4 * k + 3][x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  product[row * pitch + column] = sum;
}
)";

std::size_t inner_of(const Parameters& parameters) {
  const std::uint64_t asked = parameters.own.at("inner");
  return asked == 0 ? parameters.size : asked;
}

class MatrixMul : public Workload {
 public:
  MatrixMul(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        side_(parameters.size),
        inner_(inner_of(parameters)),
        tile_(parameters.own.at("tile")),
        seed_(parameters.seed),
        host_left_(random_floats(side_ * inner_, -1.0F, 1.0F, seed_)),
        host_right_(random_floats(inner_ * side_, -1.0F, 1.0F, seed_ + 1)),
        left_(device.upload(host_left_)),
        right_(device.upload(host_right_)),
        product_(device.buffer<float>(side_ * side_)),
        program_(device.build("#define TILE " + std::to_string(tile_) + kSource)),
        kernel_(device.kernel(program_, "multiply")) {
    set_arguments(kernel_, product_, left_, right_, static_cast<cl_int>(side_), static_cast<cl_int>(inner_));
  }

  void enqueue_round() override {
    launcher_.launch(kernel_, {side_ / kLanes, side_}, {tile_ / kLanes, tile_});
  }

  double work_per_round() const override {
    return 2.0 * static_cast<double>(side_) * static_cast<double>(side_) * static_cast<double>(inner_) / 1e9;
  }

  void poison() override { launcher_.fill(product_, std::nanf(""), side_ * side_); }

  std::optional<std::string> find_mismatch() override {
    const auto product = launcher_.read<float>(product_, side_ * side_);
    return side_ <= kLargestFullCheck ? check_every_element(product) : check_by_projection(product);
  }

 private:
  static constexpr std::size_t kLargestFullCheck = 512;

  std::optional<std::string> check_every_element(const std::vector<float>& product) {
    if (expected_.empty()) {
      expected_.assign(side_ * side_, 0.0);
      for (std::size_t row = 0; row < side_; ++row) {
        for (std::size_t k = 0; k < inner_; ++k) {
          const double factor = host_left_[row * inner_ + k];
          for (std::size_t column = 0; column < side_; ++column) {
            expected_[row * side_ + column] += factor * host_right_[k * side_ + column];
          }
        }
      }
    }
    // A sum of n rounded products of values below 1 is off by a few times sqrt(n) rounding steps.
    return compare("C", product, expected_, {1e-6 * std::sqrt(static_cast<double>(inner_)), 1e-5});
  }

  /// Freivalds' check: C v = A (B v) for random v of +1 and -1. One wrong element shows in its row for every
  /// such v; several in one row cancel for at most half of the vectors.
  std::optional<std::string> check_by_projection(const std::vector<float>& product) const {
    constexpr int kVectors = 4;
    std::mt19937_64 generator(seed_ + 2);
    for (int repetition = 0; repetition < kVectors; ++repetition) {
      std::vector<double> signs(side_);
      for (double& sign : signs) sign = (generator() & 1U) != 0 ? 1.0 : -1.0;
      const auto expected = times(host_left_, times(host_right_, signs));
      const auto projected = times(product, signs);
      const double tolerance = 1e-5 * std::sqrt(static_cast<double>(side_ * inner_));
      for (std::size_t row = 0; row < side_; ++row) {
        if (!(std::abs(projected[row] - expected[row]) <= tolerance)) {
          return "row " + std::to_string(row) + " of C is wrong: its projection is " +
                 std::to_string(projected[row]) + ", expected " + std::to_string(expected[row]);
        }
      }
    }
    return std::nullopt;
  }

  static std::vector<double> times(const std::vector<float>& matrix, const std::vector<double>& vector) {
    std::vector<double> result(matrix.size() / vector.size(), 0.0);
    for (std::size_t row = 0; row < result.size(); ++row) {
      for (std::size_t column = 0; column < vector.size(); ++column) {
        result[row] += static_cast<double>(matrix[row * vector.size() + column]) * vector[column];
      }
    }
    return result;
  }

  Launcher& launcher_;
  const std::size_t side_;
  const std::size_t inner_;
  const std::size_t tile_;
  const std::uint64_t seed_;
  const std::vector<float> host_left_;
  const std::vector<float> host_right_;
  const Buffer left_;
  const Buffer right_;
  const Buffer product_;
  const Program program_;
  const Kernel kernel_;
  std::vector<double> expected_;
};

const Description kDescription = {
    .name = "matrixMul",
    .unit = "GFLOP/s",
    .size_meaning = "rows and columns of C",
    .default_size = 128,
    .size_multiple = kLargestTile,
    .maximum_size = 16384,
    .cost_exponent = 3.0,
    .default_sync = SyncMode::kBatch,
    .default_batch = 8,
    .own_options = {{.name = "inner",
                     .meaning = "columns of A and rows of B (default: as many as --size)",
                     .choices = {32, 64, 128, 256, 512, 1024, 2048, 4096}},
                    {.name = "tile",
                     .meaning = "rows and columns of C that a work-group computes: 8, 16 or 32 (default 32)",
                     .default_value = kLargestTile,
                     .choices = {8, 16, kLargestTile}}},
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_workload<MatrixMul>(kDescription, argc, argv);
}
