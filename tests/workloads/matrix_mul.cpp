// matrixMul: C = A x B in single precision, in tiles kept in local memory. One launch per round, launched
// asynchronously. C is square; A and B are as well, unless --inner makes one narrow and the other flat. With
// small tiles that is a grid of many work-groups over matrices that are not large.

#include <cmath>

#include "tests/workloads/problems/matrix_mul.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

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

class MatrixMul : public Workload {
 public:
  using Problem = MatrixMulProblem;

  MatrixMul(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        elements_(problem_.side * problem_.side),
        left_(device.upload(problem_.left)),
        right_(device.upload(problem_.right)),
        product_(device.buffer<float>(elements_)),
        program_(device.build("#define TILE " + std::to_string(problem_.tile) + kSource)),
        kernel_(device.kernel(program_, "multiply")) {
    set_arguments(kernel_, product_, left_, right_, static_cast<cl_int>(problem_.side),
                  static_cast<cl_int>(problem_.inner));
  }

  void enqueue_round() override {
    launcher_.launch(kernel_, {problem_.side / Problem::kLanes, problem_.side},
                     {problem_.tile / Problem::kLanes, problem_.tile});
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { launcher_.fill(product_, std::nanf(""), elements_); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<float>(product_, elements_));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const std::size_t elements_;
  const Buffer left_;
  const Buffer right_;
  const Buffer product_;
  const Program program_;
  const Kernel kernel_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<MatrixMul>(kMatrixMul, argc, argv);
}
