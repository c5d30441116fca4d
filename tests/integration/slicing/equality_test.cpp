// A sliced launch gives the same as a whole one, bit for bit: every kernel of the corpus with random
// launches, cut by the planner and at random, on the driver itself. FAIRGV_TEST_SEED=<the printed number>
// repeats a run.
#include <algorithm>
#include <string>
#include <vector>

#include "slicing/driver_launch.hpp"
#include "slicing/planner.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/integration/slicing/runs.hpp"

namespace fairgv::test {
namespace {

using slicing::Box;
using slicing::Extent;
using slicing::Launch;
using slicing::Random;

constexpr int kAllCases = 120;  // of a kernel
constexpr int kCasesPerSubject = harness::rounds(kAllCases);
constexpr std::uint64_t kMostGroups = 512;
static_assert(kSlots >= 2 * kMostGroups * 24, "24 work-items in the largest group, and one result for each");

// Pieces of any sizes, in any order: work-groups have no order.
std::vector<Box> random_tiling(Random& random, const Launch& launch) {
  std::vector<Box> boxes{launch.whole()};
  for (std::uint64_t cuts = random.between(1, 12); cuts > 0; --cuts) {
    Box& box = boxes[random.between(0, boxes.size() - 1)];
    const std::size_t d = random.between(0, launch.dimensions - 1);
    if (box.groups[d] == 1) continue;
    Box rest = box;
    const std::uint64_t kept = random.between(1, box.groups[d] - 1);
    box.groups[d] = kept;
    rest.first[d] += kept;
    rest.groups[d] -= kept;
    boxes.push_back(rest);
  }
  for (std::size_t i = boxes.size(); i > 1; --i) std::swap(boxes[i - 1], boxes[random.between(0, i - 1)]);
  return boxes;
}

std::vector<Box> planned_tiling(Random& random, const Launch& launch) {
  const std::uint64_t total = *slicing::volume(launch.groups());
  slicing::Planner planner(launch, {.floor = random.between(total / 16, total / 2)});
  const slicing::Slice slice{.left = std::chrono::milliseconds(1), .length = std::chrono::milliseconds(1)};
  std::vector<Box> boxes;
  while (!planner.done()) {
    const slicing::Pace pace{.blocks = random.between(1, total), .time = std::chrono::milliseconds(2)};
    boxes.push_back(planner.next(pace, slice).box);
  }
  return boxes;
}

Subject subject_of(const std::string& kernel) {
  const std::vector<Subject> all = corpus();
  return *std::find_if(all.begin(), all.end(), [&](const Subject& each) { return each.kernel == kernel; });
}

class SlicingEquality : public SlicingRuns, public testing::WithParamInterface<Subject> {
 protected:
  // Few local sizes: drivers compile a kernel anew for each.
  Launch random_launch() {
    constexpr std::array<Extent, 3> kLocal = {{{16, 1, 1}, {8, 2, 1}, {4, 3, 2}}};
    Launch launch{.dimensions = one_dimension() ? 1 : static_cast<std::uint32_t>(random_.between(1, 3))};
    launch.local = kLocal[launch.dimensions - 1];
    const unsigned offset_bits = std::min(slicing::kCarriedBits[launch.dimensions - 1].offset, 63u);
    std::uint64_t groups_left = kMostGroups;
    for (std::size_t d = launch.dimensions; d-- > 0;) {
      const std::uint64_t groups =
          random_.between(1, d == 0 ? groups_left : std::min<std::uint64_t>(groups_left, 16));
      groups_left /= groups;
      launch.size[d] = groups * launch.local[d];
      if (unequal_groups() && random_.one_in(2)) launch.size[d] -= random_.between(0, launch.local[d] - 1);
      if (random_.one_in(2)) launch.offset[d] = random_.magnitude((std::uint64_t{1} << offset_bits) - 1);
    }
    return launch;
  }

  bool one_dimension() const { return GetParam().kernel == "required_size"; }

  bool unequal_groups() const {
    return GetParam().options.find("CL3") != std::string::npos &&
           device_info<cl_bool>(device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) == CL_TRUE;
  }
};

TEST_P(SlicingEquality, EverySliceOfEveryLaunchComputesWhatTheWholeDoes) {
  const Subject& subject = GetParam();
  const KernelHandle whole = kernel_of(subject, Form::kOriginal);
  const KernelHandle sliced[] = {kernel_of(subject, Form::kSliceable1D),
                                 kernel_of(subject, Form::kSliceable2D),
                                 kernel_of(subject, Form::kSliceable3D)};
  if (HasFailure()) return;
  for (int trial = 0; trial < kCasesPerSubject; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const Launch launch = random_launch();
    const auto boxes = random_.one_in(2) ? planned_tiling(random_, launch) : random_tiling(random_, launch);
    const Result expected = run_whole(whole, launch);
    const Result result = run_sliced(sliced[launch.dimensions - 1], launch, boxes);
    ASSERT_FALSE(expected == run(whole, {})) << "the kernel leaves no trace";
    ASSERT_TRUE(result == expected) << boxes.size() << " boxes of " << launch.dimensions << " dimensions";
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, SlicingEquality, testing::ValuesIn(corpus()),
                         [](const auto& one) { return one.param.kernel + std::to_string(one.index); });

// Drivers compile wide grids separately from small ones: here the whole launch is wide, and its pieces are of
// either kind.
TEST_F(SlicingRuns, WideLaunchesWithLargeOffsetsAreEqualToo) {
  const Subject subject = subject_of("atomics");
  const KernelHandle whole = kernel_of(subject, Form::kOriginal);
  const KernelHandle sliced = kernel_of(subject, Form::kSliceable1D);
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const Launch launch{.dimensions = 1,
                        .offset = {random_.magnitude(UINT64_MAX >> 1), 0, 0},
                        .size = {16 * random_.between(1 << 12, 1 << 14), 1, 1},
                        .local = {16, 1, 1}};
    ASSERT_TRUE(run_sliced(sliced, launch, random_tiling(random_, launch)) == run_whole(whole, launch));
  }
}

// Shows that the comparisons above can fail at all.
TEST_F(SlicingRuns, WithoutThePreludeWorkItemsSeeTheirSubLaunch) {
  const KernelHandle kernel = kernel_of(subject_of("functions"), Form::kOriginal);
  const Launch launch{.dimensions = 2, .size = {64, 16, 1}, .local = {8, 2, 1}};
  EXPECT_FALSE(run_sliced(kernel, launch, {launch.whole()}) == run_whole(kernel, launch));
}

TEST(SlicingCorpus, HasAtLeastTwoThousandCases) {
  EXPECT_GE(corpus().size() * kAllCases, 2000u);
}

}  // namespace
}  // namespace fairgv::test
