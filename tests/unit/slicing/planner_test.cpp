// The planner by example: the boxes for each launch, pace and slice.
#include <gtest/gtest.h>

#include <vector>

#include "slicing/planner.hpp"

namespace {

using fairgv::slicing::Box;
using fairgv::slicing::Extent;
using fairgv::slicing::kDefaultFloor;
using fairgv::slicing::kStaticGrid;
using fairgv::slicing::Launch;
using fairgv::slicing::Pace;
using fairgv::slicing::Planner;
using fairgv::slicing::Slice;
using fairgv::slicing::SubLaunch;
using fairgv::slicing::volume;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Slice kFullSlice{.left = milliseconds(6), .length = milliseconds(6)};
constexpr Pace kMicrosecondPerBlock{.blocks = 1000, .time = milliseconds(1)};  // 6,000 blocks a slice

Launch grid(std::uint64_t x, std::uint64_t y = 1, std::uint64_t z = 1) {
  return {.dimensions = 3, .size = {x * 16, y * 4, z}, .local = {16, 4, 1}};
}

std::vector<Box> all_boxes(Planner planner, const std::optional<Pace>& pace,
                           const Slice& slice = kFullSlice) {
  std::vector<Box> boxes;
  while (!planner.done()) boxes.push_back(planner.next(pace, slice).box);
  return boxes;
}

Box planes(const Launch& launch, std::uint64_t first, std::uint64_t count) {
  return {.first = {0, 0, first}, .groups = {launch.groups()[0], launch.groups()[1], count}};
}

Box rows(const Launch& launch, std::uint64_t plane, std::uint64_t first, std::uint64_t count) {
  return {.first = {0, first, plane}, .groups = {launch.groups()[0], count, 1}};
}

TEST(SlicingLaunch, ASmallerLastGroupIsAGroup) {
  const Launch launch{.dimensions = 2, .size = {17, 8, 1}, .local = {16, 4, 1}};
  EXPECT_EQ(launch.groups(), (Extent{2, 2, 1}));
}

TEST(SlicingLaunch, AProductBeyond64BitsIsNone) {
  EXPECT_EQ(volume({UINT64_MAX, 1, 1}), UINT64_MAX);
  EXPECT_EQ(volume({std::uint64_t{1} << 32, std::uint64_t{1} << 31, 2}), std::nullopt);
}

TEST(SlicingLaunch, IsValidAsOpenClSaysAndOnlyIfGroupsCanBeCounted) {
  EXPECT_TRUE(Launch{}.is_valid());
  EXPECT_TRUE((Launch{.offset = {UINT64_MAX - 8, 0, 0}, .size = {8, 1, 1}}.is_valid()));
  EXPECT_FALSE((Launch{.offset = {UINT64_MAX - 8, 0, 0}, .size = {9, 1, 1}}.is_valid())) << "ids overflow";
  EXPECT_FALSE((Launch{.dimensions = 0}.is_valid()));
  EXPECT_FALSE((Launch{.dimensions = 4}.is_valid()));
  EXPECT_FALSE((Launch{.size = {0, 1, 1}}.is_valid())) << "no work-items";
  EXPECT_FALSE((Launch{.size = {8, 1, 1}, .local = {0, 1, 1}}.is_valid())) << "unresolved local size";
  EXPECT_FALSE((Launch{.dimensions = 1, .size = {8, 2, 1}}.is_valid())) << "a dimension not in use";
  const std::uint64_t huge = std::uint64_t{1} << 32;
  EXPECT_FALSE((Launch{.dimensions = 2, .size = {huge, huge, 1}}.is_valid())) << "2^64 groups";
}

TEST(SlicingPlanner, ALaunchThatFitsASliceStaysWholeEvenLateInATurn) {
  const Launch launch = grid(60, 10, 10);
  Planner planner(launch);
  const SubLaunch answer =
      planner.next(kMicrosecondPerBlock, {.left = milliseconds(1), .length = milliseconds(6)});
  EXPECT_TRUE(answer.whole);
  EXPECT_EQ(answer.box, launch.whole());
  EXPECT_TRUE(planner.done());
}

TEST(SlicingPlanner, ALaunchBelowTwiceTheFloorStaysWholeHoweverLong) {
  Planner planner(grid(2 * kDefaultFloor - 1));
  EXPECT_TRUE(planner.next(Pace{.blocks = 1, .time = milliseconds(100)}, kFullSlice).whole);
}

TEST(SlicingPlanner, TheFirstPieceOfAnUnknownKernelIsAboutTheFloor) {
  const Launch launch = grid(100, 100, 100);
  Planner planner(launch);
  const SubLaunch first = planner.next(std::nullopt, kFullSlice);
  EXPECT_FALSE(first.whole);
  EXPECT_EQ(first.box, rows(launch, 0, 0, 17)) << "100 rows in six pieces of at least 15";
}

TEST(SlicingPlanner, ANewerPaceCountsFromTheNextPieceOn) {
  const Launch launch = grid(100, 100, 100);
  Planner planner(launch);
  planner.next(std::nullopt, kFullSlice);
  EXPECT_EQ(planner.next(kMicrosecondPerBlock, kFullSlice).box, rows(launch, 0, 17, 42))
      << "the 83 rows that are left of the plane, in two pieces of at most 60";
  EXPECT_EQ(planner.next(kMicrosecondPerBlock, kFullSlice).box, rows(launch, 0, 59, 41));
  const Pace fast{.blocks = 10, .time = microseconds(1)};  // 60,000 blocks a slice
  EXPECT_EQ(planner.next(fast, kFullSlice).box, planes(launch, 1, 6)) << "99 planes in 17 pieces";
}

TEST(SlicingPlanner, OnlyWhatIsLeftOfTheSliceIsFilled) {
  const Launch launch = grid(100, 100, 100);
  const Pace fast{.blocks = 10, .time = microseconds(1)};
  EXPECT_EQ(Planner(launch).next(fast, {.left = milliseconds(2), .length = milliseconds(6)}).box,
            planes(launch, 0, 2));
}

TEST(SlicingPlanner, TailsAreSharedOut) {
  const Launch launch = grid(10'000);
  const std::vector<Box> boxes = all_boxes(Planner(launch), kMicrosecondPerBlock);
  EXPECT_EQ(boxes, (std::vector<Box>{{.first = {0, 0, 0}, .groups = {5'000, 1, 1}},
                                     {.first = {5'000, 0, 0}, .groups = {5'000, 1, 1}}}));
}

TEST(SlicingPlanner, WhereTheFloorIsMoreThanASliceTheFloorWins) {
  const Pace slow{.blocks = 1, .time = milliseconds(1)};
  for (const Box& box : all_boxes(Planner(grid(10'000)), slow)) {
    EXPECT_GE(*volume(box.groups), kDefaultFloor);
    EXPECT_LE(*volume(box.groups), kDefaultFloor + kDefaultFloor / 6 + 1);
  }
}

TEST(SlicingPlanner, ARowThatTheFloorDoesNotLetBeCutStaysARow) {
  const Launch launch = grid(2'500, 8);
  const std::vector<Box> boxes = all_boxes(Planner(launch), Pace{.blocks = 1, .time = milliseconds(1)});
  ASSERT_EQ(boxes.size(), 8u);
  EXPECT_EQ(boxes[3], rows(launch, 0, 3, 1));
}

// 40 x 51 work-groups of 10 ms, 20 seconds in all.
TEST(SlicingPlanner, TheFloorYieldsToWorkGroupsThatLastForSeconds) {
  const Launch launch = grid(40, 51);
  const Pace slow{.blocks = 2040, .time = milliseconds(20'400)};
  Planner unyielding(launch);
  EXPECT_TRUE(unyielding.next(slow, kFullSlice).whole);
  const std::vector<Box> boxes = all_boxes(Planner(launch, {.longest = milliseconds(1'000)}), slow);
  EXPECT_EQ(boxes.size(), 17U);
  for (std::size_t i = 0; i < boxes.size(); ++i) EXPECT_EQ(boxes[i], rows(launch, 0, 3 * i, 3));
}

TEST(SlicingPlanner, TheFloorDoesNotYieldToWorkGroupsThatLastLess) {
  const Launch launch = grid(40, 51);
  const Pace quick{.blocks = 2040, .time = milliseconds(600)};
  EXPECT_TRUE(Planner(launch, {.longest = milliseconds(1'000)}).next(quick, kFullSlice).whole);
}

TEST(SlicingPlanner, OneWorkGroupIsTheSmallestPartHoweverLongItLasts) {
  const Pace slow{.blocks = 1, .time = milliseconds(5'000)};
  EXPECT_EQ(all_boxes(Planner(grid(3), {.longest = milliseconds(1'000)}), slow).size(), 3U);
}

TEST(SlicingPlanner, TheStaticRuleLooksAtTheGridOnly) {
  const Pace slow{.blocks = 1, .time = milliseconds(100)};
  EXPECT_TRUE(Planner(grid(600, 600), {.static_grid = kStaticGrid}).next(slow, kFullSlice).whole);

  const Launch larger = grid(600, 601);
  const Pace fast{.blocks = 1'000'000, .time = microseconds(1)};
  Planner planner(larger, {.static_grid = kStaticGrid});
  EXPECT_EQ(planner.next(fast, kFullSlice).box, rows(larger, 0, 0, 4)) << "three rows make the floor";
}

TEST(SlicingPlanner, AFloorOfZeroIsOne) {
  const Pace slow{.blocks = 1, .time = milliseconds(100)};
  EXPECT_EQ(all_boxes(Planner(grid(3, 2, 2), {.floor = 0}), slow).size(), 12u);
}

TEST(SlicingPlanner, AMeasurementOfNothingIsNoMeasurement) {
  Planner planner(grid(100, 100));
  EXPECT_FALSE(planner.next(Pace{.blocks = 0, .time = milliseconds(1)}, kFullSlice).whole);
  EXPECT_TRUE(Planner(grid(100, 100)).next(Pace{.blocks = 10, .time = {}}, kFullSlice).whole);
}

}  // namespace
