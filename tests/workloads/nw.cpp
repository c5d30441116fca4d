// nw: global alignment of two sequences by Needleman and Wunsch. The matrix of scores is filled in blocks,
// one short launch for each diagonal of blocks; a work-group fills its block diagonal by diagonal, too.
// Launches are asynchronous.

#include "tests/workloads/problems/rodinia/nw.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

constexpr const char* kSource = R"(
#define BLOCK 32
#define LETTERS 20

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void fill_diagonal(__global int* restrict scores, __global const uchar* restrict down,
                   __global const uchar* restrict across, __constant int* similarity, const int gap,
                   const int side, const int diagonal, const int first_row) {
  // With a row above and a column to the left.
  __local int block[BLOCK + 1][BLOCK + 1];
  __local int letters[BLOCK];
  const int item = get_local_id(0);
  const int top = (first_row + (int)get_group_id(0)) * BLOCK;
  const int left = diagonal * BLOCK - top;

  // Beyond the edge of the matrix all letters are without a partner.
  block[0][item + 1] = top > 0 ? scores[(top - 1) * side + left + item] : -gap * (left + item + 1);
  block[item + 1][0] = left > 0 ? scores[(top + item) * side + left - 1] : -gap * (top + item + 1);
  if (item == 0) {
    block[0][0] = top > 0 && left > 0 ? scores[(top - 1) * side + left - 1] : -gap * (top + left);
  }
  letters[item] = down[top + item] * LETTERS;
  const int letter = across[left + item];

  for (int step = 0; step < 2 * BLOCK - 1; ++step) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const int row = step - item;
    if (row >= 0 && row < BLOCK) {
      const int pair = block[row][item] + similarity[letters[row] + letter];
      block[row + 1][item + 1] = max(pair, max(block[row][item + 1], block[row + 1][item]) - gap);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int row = 0; row < BLOCK; ++row) scores[(top + row) * side + left + item] = block[row + 1][item + 1];
}
)";

class Nw : public Workload {
 public:
  using Problem = NwProblem;

  Nw(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        cells_(problem_.side * problem_.side),
        down_(device.upload(problem_.down)),
        across_(device.upload(problem_.across)),
        similarity_(device.upload(problem_.similarity)),
        scores_(device.buffer<cl_int>(cells_)),
        program_(device.build(kSource)) {
    for (const Problem::Diagonal& diagonal : problem_.diagonals()) {
      Kernel fill = device.kernel(program_, "fill_diagonal");
      set_arguments(fill, scores_, down_, across_, similarity_, cl_int{Problem::kGap},
                    static_cast<cl_int>(problem_.side), static_cast<cl_int>(diagonal.number),
                    static_cast<cl_int>(diagonal.first_row));
      launches_.push_back({std::move(fill), {diagonal.blocks * Problem::kBlock, 1}});
    }
  }

  void enqueue_round() override {
    for (const Launch& each : launches_) launcher_.launch(each.kernel, each.items, {Problem::kBlock, 1});
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { launcher_.fill(scores_, cl_int{-1}, cells_); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<std::int32_t>(scores_, cells_));
  }

 private:
  struct Launch {
    Kernel kernel;
    Range items;
  };

  Launcher& launcher_;
  Problem problem_;
  const std::size_t cells_;
  const Buffer down_;
  const Buffer across_;
  const Buffer similarity_;
  const Buffer scores_;
  const Program program_;
  std::vector<Launch> launches_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<Nw>(kNw, argc, argv);
}
