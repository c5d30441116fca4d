// nw in CUDA: see problems/rodinia/nw.hpp and the OpenCL program, whose blocks do the same work.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/rodinia/nw.hpp"

namespace workloads::cuda {
namespace {

constexpr int kBlock = NwProblem::kBlock;
constexpr int kLetters = NwProblem::kLetters;
constexpr int kGap = NwProblem::kGap;

__global__ void __launch_bounds__(kBlock)
    fill_diagonal(int* __restrict__ scores, const unsigned char* __restrict__ down,
                  const unsigned char* __restrict__ across, const int* __restrict__ similarity, int side,
                  int diagonal, int first_row) {
  // With a row above and a column to the left.
  __shared__ int block[kBlock + 1][kBlock + 1];
  __shared__ int letters[kBlock];
  const int item = threadIdx.x;
  const int top = (first_row + static_cast<int>(blockIdx.x)) * kBlock;
  const int left = diagonal * kBlock - top;

  // Beyond the edge of the matrix all letters are without a partner.
  block[0][item + 1] = top > 0 ? scores[(top - 1) * side + left + item] : -kGap * (left + item + 1);
  block[item + 1][0] = left > 0 ? scores[(top + item) * side + left - 1] : -kGap * (top + item + 1);
  if (item == 0) {
    block[0][0] = top > 0 && left > 0 ? scores[(top - 1) * side + left - 1] : -kGap * (top + left);
  }
  letters[item] = down[top + item] * kLetters;
  const int letter = across[left + item];

  for (int step = 0; step < 2 * kBlock - 1; ++step) {
    __syncthreads();
    const int row = step - item;
    if (row >= 0 && row < kBlock) {
      const int pair = block[row][item] + similarity[letters[row] + letter];
      block[row + 1][item + 1] = max(pair, max(block[row][item + 1], block[row + 1][item]) - kGap);
    }
  }
  __syncthreads();
  for (int row = 0; row < kBlock; ++row) scores[(top + row) * side + left + item] = block[row + 1][item + 1];
}

class Nw : public Workload {
 public:
  using Problem = NwProblem;

  Nw(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        diagonals_(problem_.diagonals()),
        down_(problem_.down),
        across_(problem_.across),
        similarity_(problem_.similarity),
        scores_(problem_.side * problem_.side) {
    launcher_.load(fill_diagonal);
  }

  void enqueue_round() override {
    for (const Problem::Diagonal& diagonal : diagonals_) {
      launcher_.launch(fill_diagonal, diagonal.blocks, kBlock, scores_.get(), down_.get(), across_.get(),
                       similarity_.get(), problem_.side, diagonal.number, diagonal.first_row);
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { scores_.fill(0xff, launcher_.stream()); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(scores_.read<std::int32_t>(launcher_.stream()));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const std::vector<Problem::Diagonal> diagonals_;
  const DeviceArray<unsigned char> down_;
  const DeviceArray<unsigned char> across_;
  const DeviceArray<int> similarity_;
  DeviceArray<int> scores_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::Nw>(workloads::kNw, argc, argv);
}
