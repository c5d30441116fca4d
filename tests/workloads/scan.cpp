// scan: exclusive prefix sum. Every work-group scans a block in local memory and leaves the block's sum; the
// sums are scanned the same way; their scan is added to the blocks. The host waits for each launch.

#include "tests/workloads/problems/scan.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

// The work-efficient scan: sums up a tree, then hands prefixes down it.
constexpr const char* kSource = R"(
#define GROUP 256
#define BLOCK 512

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_blocks(__global uint* output, __global const uint* input, __global uint* sums, const uint count) {
  __local uint tree[BLOCK];
  const uint item = get_local_id(0);
  const uint block = get_group_id(0);
  const uint first = block * BLOCK + item;
  const uint second = first + GROUP;
  tree[item] = first < count ? input[first] : 0;
  tree[item + GROUP] = second < count ? input[second] : 0;

  for (uint stride = 1; stride < BLOCK; stride *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint node = (item + 1) * 2 * stride - 1;
    if (node < BLOCK) tree[node] += tree[node - stride];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    sums[block] = tree[BLOCK - 1];
    tree[BLOCK - 1] = 0;
  }
  for (uint stride = BLOCK / 2; stride > 0; stride /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint node = (item + 1) * 2 * stride - 1;
    if (node < BLOCK) {
      const uint left = tree[node - stride];
      tree[node - stride] = tree[node];
      tree[node] += left;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (first < count) output[first] = tree[item];
  if (second < count) output[second] = tree[item + GROUP];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void add_block_prefix(__global uint* output, __global const uint* prefixes, const uint count) {
  const uint first = get_group_id(0) * BLOCK + get_local_id(0);
  const uint second = first + GROUP;
  const uint prefix = prefixes[get_group_id(0)];
  if (first < count) output[first] += prefix;
  if (second < count) output[second] += prefix;
}
)";

class Scan : public Workload {
 public:
  using Problem = ScanProblem;

  Scan(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        input_(device.upload(problem_.input)),
        output_(device.buffer<std::uint32_t>(problem_.count)),
        program_(device.build(kSource)) {
    add_levels(device);
  }

  void enqueue_round() override {
    for (const Level& level : levels_) launcher_.launch(level.scan, work_items(level), {Problem::kGroup, 1});
    for (auto level = levels_.rbegin() + 1; level != levels_.rend(); ++level) {
      launcher_.launch(level->add, work_items(*level), {Problem::kGroup, 1});
    }
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override { launcher_.fill(output_, ~std::uint32_t{0}, problem_.count); }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<std::uint32_t>(output_, problem_.count));
  }

 private:
  /// One level of the recursion: `blocks` blocks whose sums are the next level's input.
  struct Level {
    std::size_t blocks = 0;
    Buffer sums;
    Kernel scan;
    Kernel add;
  };

  static Range work_items(const Level& level) { return {level.blocks * Problem::kGroup, 1}; }

  void add_levels(const Device& device) {
    // The levels above the first scan their sums in place.
    std::size_t count = problem_.count;
    const Buffer* input = &input_;
    const Buffer* output = &output_;
    levels_.reserve(Problem::kMostLevels);
    do {
      Level& level = levels_.emplace_back();
      level.blocks = (count + Problem::kBlock - 1) / Problem::kBlock;
      level.sums = device.buffer<std::uint32_t>(level.blocks);
      level.scan = device.kernel(program_, "scan_blocks");
      set_arguments(level.scan, *output, *input, level.sums, static_cast<cl_uint>(count));
      level.add = device.kernel(program_, "add_block_prefix");
      set_arguments(level.add, *output, level.sums, static_cast<cl_uint>(count));
      input = output = &level.sums;
      count = level.blocks;
    } while (count > 1);
  }

  Launcher& launcher_;
  Problem problem_;
  const Buffer input_;
  const Buffer output_;
  const Program program_;
  std::vector<Level> levels_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<Scan>(kScan, argc, argv);
}
