// lud: factors a matrix into a lower and an upper triangular one, in blocks. For each block of the diagonal
// there are three short launches: of the block itself, of those beside and below it, and of all that is left.
// Launches are asynchronous.

#include "tests/workloads/problems/rodinia/lud.hpp"

#include <cmath>

#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

constexpr const char* kSource = R"(
#define BLOCK 32
#define VECTORS (BLOCK / 4)  // Vectors of four elements across a block

__kernel void prepare(__global float* restrict a, const int side, const uint seed) {
  const int column = get_global_id(0);
  const int row = get_global_id(1);
  uint word = (uint)(row * side + column) ^ seed;
  word = (word ^ (word >> 16)) * 0x7feb352du;
  word = (word ^ (word >> 15)) * 0x846ca68bu;
  word ^= word >> 16;
  a[row * side + column] = row == column ? (float)side : (float)(word >> 8) / (float)(1 << 23) - 1.0f;
}

// One work-group.
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void factor_diagonal(__global float* restrict a, const int side, const int first) {
  __local float block[BLOCK][BLOCK];
  const int item = get_local_id(0);
  for (int row = 0; row < BLOCK; ++row) block[row][item] = a[(first + row) * side + first + item];
  for (int step = 0; step < BLOCK - 1; ++step) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item > step) {
      const float factor = block[item][step] / block[step][step];
      block[item][step] = factor;
      for (int k = step + 1; k < BLOCK; ++k) block[item][k] -= factor * block[step][k];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int row = 0; row < BLOCK; ++row) a[(first + row) * side + first + item] = block[row][item];
}

// Groups 0 to `behind` - 1 have the blocks beside the diagonal's, the others those below it.
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void factor_perimeter(__global float* restrict a, const int side, const int first, const int behind) {
  __local float diagonal[BLOCK][BLOCK];
  __local float block[BLOCK][BLOCK];
  const int item = get_local_id(0);
  const int group = get_group_id(0);
  const bool beside = group < behind;
  const int top = beside ? first : first + (group - behind + 1) * BLOCK;
  const int left = beside ? first + (group + 1) * BLOCK : first;
  for (int row = 0; row < BLOCK; ++row) {
    diagonal[row][item] = a[(first + row) * side + first + item];
    block[row][item] = a[(top + row) * side + left + item];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (beside) {
    for (int row = 1; row < BLOCK; ++row) {
      float sum = block[row][item];
      for (int k = 0; k < row; ++k) sum -= diagonal[row][k] * block[k][item];
      block[row][item] = sum;
    }
  } else {
    for (int column = 0; column < BLOCK; ++column) {
      float sum = block[item][column];
      for (int k = 0; k < column; ++k) sum -= block[item][k] * diagonal[k][column];
      block[item][column] = sum / diagonal[column][column];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int row = 0; row < BLOCK; ++row) a[(top + row) * side + left + item] = block[row][item];
}

// A work-item updates four neighbouring elements of one row.
__kernel __attribute__((reqd_work_group_size(VECTORS, BLOCK, 1)))
void update_interior(__global float4* restrict a, const int side, const int first) {
  __local float4 beside[BLOCK][VECTORS];
  __local float4 below[BLOCK][VECTORS];
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int pitch = side / 4;
  const int row = first + BLOCK + get_global_id(1);
  const int column = (first + BLOCK) / 4 + get_global_id(0);
  below[y][x] = a[row * pitch + first / 4 + x];
  beside[y][x] = a[(first + y) * pitch + column];
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 sum = (float4)(0.0f);
  for (int k = 0; k < VECTORS; ++k) {
    const float4 factors = below[y][k];
    sum += factors.x * beside[4 * k][x] + factors.y * beside[4 * k + 1][x] +
           factors.z * beside[4 * k + 2][x] + factors.w * beside[4 * k + 3][x];
  }
  a[row * pitch + column] -= sum;
}
)";

class Lud : public Workload {
 public:
  using Problem = LudProblem;

  Lud(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        elements_(problem_.side * problem_.side),
        matrix_(device.buffer<float>(elements_)),
        program_(device.build(kSource)),
        prepare_(device.kernel(program_, "prepare")),
        diagonal_(device.kernel(program_, "factor_diagonal")),
        perimeter_(device.kernel(program_, "factor_perimeter")),
        interior_(device.kernel(program_, "update_interior")) {}

  void enqueue_round() override {
    const auto side = static_cast<cl_int>(problem_.side);
    set_arguments(prepare_, matrix_, side, cl_uint{problem_.seed});
    launcher_.launch(prepare_, {problem_.side, problem_.side}, {Problem::kBlock, 1});
    for (std::size_t block = 0; block < problem_.blocks(); ++block) {
      const auto first = static_cast<cl_int>(block * Problem::kBlock);
      set_arguments(diagonal_, matrix_, side, first);
      launcher_.launch(diagonal_, {Problem::kBlock, 1}, {Problem::kBlock, 1});
      const std::size_t behind = problem_.blocks() - block - 1;
      if (behind == 0) return;
      set_arguments(perimeter_, matrix_, side, first, static_cast<cl_int>(behind));
      launcher_.launch(perimeter_, {2 * behind * Problem::kBlock, 1}, {Problem::kBlock, 1});
      set_arguments(interior_, matrix_, side, first);
      const std::size_t left = behind * Problem::kBlock;
      launcher_.launch(interior_, {left / Problem::kLanes, left},
                       {Problem::kBlock / Problem::kLanes, Problem::kBlock});
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { launcher_.fill(matrix_, std::nanf(""), elements_); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<float>(matrix_, elements_));
  }

 private:
  Launcher& launcher_;
  const Problem problem_;
  const std::size_t elements_;
  const Buffer matrix_;
  const Program program_;
  const Kernel prepare_;
  const Kernel diagonal_;
  const Kernel perimeter_;
  const Kernel interior_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<Lud>(kLud, argc, argv);
}
