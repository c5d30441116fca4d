// scan in CUDA: see problems/scan.hpp and the OpenCL program, whose blocks do the same work.
#include <deque>

#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/scan.hpp"

namespace workloads::cuda {
namespace {

constexpr int kGroup = ScanProblem::kGroup;
constexpr int kBlock = ScanProblem::kBlock;

// The work-efficient scan: sums up a tree, then hands prefixes down it. Levels above the first scan in place.
__global__ void __launch_bounds__(kGroup)
    scan_blocks(unsigned* output, const unsigned* input, unsigned* sums, unsigned count) {
  __shared__ unsigned tree[kBlock];
  const unsigned item = threadIdx.x;
  const unsigned first = blockIdx.x * kBlock + item;
  const unsigned second = first + kGroup;
  tree[item] = first < count ? input[first] : 0;
  tree[item + kGroup] = second < count ? input[second] : 0;

  for (unsigned stride = 1; stride < kBlock; stride *= 2) {
    __syncthreads();
    const unsigned node = (item + 1) * 2 * stride - 1;
    if (node < kBlock) tree[node] += tree[node - stride];
  }
  __syncthreads();
  if (item == 0) {
    sums[blockIdx.x] = tree[kBlock - 1];
    tree[kBlock - 1] = 0;
  }
  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2) {
    __syncthreads();
    const unsigned node = (item + 1) * 2 * stride - 1;
    if (node < kBlock) {
      const unsigned left = tree[node - stride];
      tree[node - stride] = tree[node];
      tree[node] += left;
    }
  }
  __syncthreads();
  if (first < count) output[first] = tree[item];
  if (second < count) output[second] = tree[item + kGroup];
}

__global__ void __launch_bounds__(kGroup)
    add_block_prefix(unsigned* output, const unsigned* prefixes, unsigned count) {
  const unsigned first = blockIdx.x * kBlock + threadIdx.x;
  const unsigned second = first + kGroup;
  const unsigned prefix = prefixes[blockIdx.x];
  if (first < count) output[first] += prefix;
  if (second < count) output[second] += prefix;
}

class Scan : public Workload {
 public:
  using Problem = ScanProblem;

  Scan(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher), problem_(parameters), input_(problem_.input), output_(problem_.count) {
    launcher_.load(scan_blocks, add_block_prefix);
    add_levels();
  }

  void enqueue_round() override {
    for (const Level& level : levels_) {
      launcher_.launch(scan_blocks, level.blocks, kGroup, level.output, level.input, level.sums.get(),
                       level.count);
    }
    for (auto level = levels_.rbegin() + 1; level != levels_.rend(); ++level) {
      launcher_.launch(add_block_prefix, level->blocks, kGroup, level->output, level->sums.get(),
                       level->count);
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { output_.fill(0xff, launcher_.stream()); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(output_.read<std::uint32_t>(launcher_.stream()));
  }

 private:
  /// One level of the recursion: `blocks` blocks whose sums are the next level's input.
  struct Level {
    Level(unsigned elements, const unsigned* from, unsigned* to)
        : count(elements), blocks((elements + kBlock - 1) / kBlock), input(from), output(to), sums(blocks) {}

    const unsigned count;
    const unsigned blocks;
    const unsigned* const input;
    unsigned* const output;
    const DeviceArray<unsigned> sums;
  };

  void add_levels() {
    levels_.emplace_back(static_cast<unsigned>(problem_.count), input_.get(), output_.get());
    while (levels_.back().blocks > 1) {
      unsigned* const sums = levels_.back().sums.get();
      levels_.emplace_back(levels_.back().blocks, sums, sums);
    }
  }

  Launcher& launcher_;
  Problem problem_;
  const DeviceArray<unsigned> input_;
  DeviceArray<unsigned> output_;
  std::deque<Level> levels_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::Scan>(workloads::kScan, argc, argv);
}
