// Kernels as nvcc compiles them, translated and run on the bare OpenCL driver: whole from the application's
// PTX, and in parts from the rewritten PTX. Every byte of the results and of the module's variables must be
// the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "slicing/planner.hpp"
#include "slicing/ptx_slicing/rewrite.hpp"
#include "tests/cuda/ptx/device.hpp"
#include "tests/harness/seed.hpp"

namespace {

using fairgv::ptx_test::Memory;
using fairgv::ptx_test::Module;
using fairgv::ptx_test::Parameters;
using namespace fairgv::slicing;

constexpr std::size_t kInputWords = 1 << 12;
constexpr std::size_t kOutputWords = 1 << 14;
constexpr std::uint64_t kMostBlocks = 192;

struct Kernel {
  const char* name;
  std::uint32_t dimensions;        // of the kernel's grids
  fairgv::ptx_test::Extent block;  // one size each: the driver compiles every size anew
};

constexpr Kernel kKernels[] = {
    {"everything", 3, {8, 4, 2}},     {"early_exit", 1, {64, 1, 1}},       {"grid_stride", 1, {48, 1, 1}},
    {"reversed_tile", 2, {16, 4, 1}}, {"histogram", 3, {32, 1, 1}},        {"last_block_sums", 3, {16, 1, 1}},
    {"in_functions", 3, {8, 2, 2}},   {"only_in_functions", 2, {4, 4, 1}}, {"placeless", 2, {32, 1, 1}},
};

std::string compiled(const std::string& program) {
  std::ifstream file(std::string(FAIRGV_PTX_PROGRAMS) + "/" + program + ".ptx");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class SlicedAndWhole {
 public:
  explicit SlicedAndWhole(std::uint64_t seed) : random_(seed), input_(kInputWords) {
    for (std::uint32_t& word : input_) word = static_cast<std::uint32_t>(random_());
  }

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  Extent random_grid(std::uint32_t dimensions) {
    for (;;) {
      Extent grid{1, 1, 1};
      for (std::size_t d = 0; d < dimensions; ++d) grid[d] = 1 + below(dimensions == 1 ? kMostBlocks : 24);
      if (volume(grid) <= kMostBlocks) return grid;
    }
  }

  /// Any boxes, in any order: CUDA promises blocks no order.
  std::vector<Box> random_boxes(const Extent& grid) {
    std::vector<Box> boxes;
    cut({.first = {0, 0, 0}, .groups = grid}, boxes);
    std::shuffle(boxes.begin(), boxes.end(), random_);
    return boxes;
  }

  /// Boxes as the worker cuts them, with a floor that suits small grids and a pace that changes.
  std::vector<Box> planned_boxes(const Extent& grid) {
    Planner planner({.dimensions = 3, .size = grid}, {.floor = 1 + below(12)});
    std::vector<Box> boxes;
    while (!planner.done()) {
      const Pace pace{.blocks = 1 + below(30), .time = Duration(100)};
      boxes.push_back(planner.next(pace, {.left = Duration(1 + below(100)), .length = Duration(100)}).box);
    }
    return boxes;
  }

  struct Results {
    std::vector<std::uint32_t> output;
    std::vector<std::byte> variables;
    bool operator==(const Results&) const = default;
  };

  struct Arguments {
    std::uint32_t n;
    std::uint8_t salt;
  };
  Arguments random_arguments() {
    return {static_cast<std::uint32_t>(1 + below(kInputWords)), static_cast<std::uint8_t>(random_())};
  }

  Results run(Module& module, const Kernel& kernel, const std::vector<Box>& boxes, const Extent& grid,
              const Arguments& arguments, const SlicedEntry* part = nullptr) {
    const bool hidden = part != nullptr && part->hidden;
    std::fill(output_.begin(), output_.end(), 0xabcdU);
    for (const Box& box : boxes) {
      Parameters parameters;
      parameters.add(input_.address()).add(output_.address()).add(arguments.n).add(arguments.salt);
      if (hidden) parameters.add(hidden_parameter(grid, box));
      module.launch(hidden ? part->part_name : kernel.name, {box.groups[0], box.groups[1], box.groups[2]},
                    kernel.block, parameters);
    }
    const std::byte* done = module.variable("blocks_done");
    return {{output_.begin(), output_.end()}, {done, done + 4}};
  }

 private:
  void cut(const Box& box, std::vector<Box>& boxes) {
    const std::size_t d = below(3);
    if (below(6) == 0 || volume(box.groups) == 1) return boxes.push_back(box);
    if (box.groups[d] == 1) return cut(box, boxes);
    Box front = box;
    Box back = box;
    front.groups[d] = 1 + below(box.groups[d] - 1);
    back.first[d] += front.groups[d];
    back.groups[d] -= front.groups[d];
    cut(front, boxes);
    cut(back, boxes);
  }

  std::mt19937_64 random_;
  Memory<std::uint32_t> input_;
  Memory<std::uint32_t> output_{kOutputWords};
};

TEST(PtxSlicingEquality, PartsGiveBitForBitWhatTheWholeGives) {
  SlicedAndWhole test(fairgv::harness::printed_seed());
  const std::string text = compiled("grids");
  const auto rewritten = rewrite_for_slicing(text);
  ASSERT_TRUE(std::holds_alternative<SlicedModule>(rewritten));
  const SlicedModule& sliced = std::get<SlicedModule>(rewritten);
  Module whole_module(text);
  Module sliced_module(sliced.text);
  ASSERT_EQ(sliced.entries.size(), std::size(kKernels)) << "a kernel of the program is not tried";

  constexpr int kCases = 360;
  std::size_t parts = 0;
  for (int i = 0; i < kCases; ++i) {
    const Kernel& kernel = kKernels[static_cast<std::size_t>(i) % std::size(kKernels)];
    const auto entry = std::find_if(sliced.entries.begin(), sliced.entries.end(),
                                    [&](const SlicedEntry& each) { return each.name == kernel.name; });
    ASSERT_NE(entry, sliced.entries.end());
    ASSERT_TRUE(entry->sliceable) << entry->reason;
    if (entry->hidden) {
      // The slicer and the translator agree on the layout.
      const auto& own = sliced_module.info(entry->part_name).parameters;
      ASSERT_EQ(own.at(entry->hidden->index).offset, entry->hidden->offset);
      ASSERT_EQ(sliced_module.info(entry->part_name).parameter_bytes, entry->parameter_bytes);
    }
    const Extent grid = test.random_grid(kernel.dimensions);
    const auto arguments = test.random_arguments();
    std::vector<Box> boxes = {{.first = {0, 0, 0}, .groups = grid}};
    const auto whole = test.run(whole_module, kernel, boxes, grid, arguments);
    // Every ninth round runs whole: the rewritten module serves such launches too, with the same variables.
    const std::uint64_t how = test.below(9);
    if (how > 0) boxes = how > 4 ? test.planned_boxes(grid) : test.random_boxes(grid);
    parts += boxes.size();
    const auto in_parts =
        test.run(sliced_module, kernel, boxes, grid, arguments, how > 0 ? &*entry : nullptr);
    ASSERT_TRUE(whole == in_parts) << kernel.name << ", case " << i << ", grid " << grid[0] << " x "
                                   << grid[1] << " x " << grid[2] << " in " << boxes.size() << " parts";
  }
  EXPECT_GT(parts, std::size_t{kCases});
}

}  // namespace
