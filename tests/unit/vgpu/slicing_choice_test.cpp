// The launches that run in parts, by each rule, and the reasons why others do not.
#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/vgpu/slicing_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;
using Readiness = SliceableLaunch::Readiness;

TEST_F(SlicingTest, ALoneTenantsLaunchRunsWhole) {
  const auto made = launch(1, event(0));
  grant_now();
  EXPECT_EQ(made->wholes, 1);
  run_for(10s);
  EXPECT_EQ(status(event(0)), kComplete);
  EXPECT_EQ(made->prepared, 0);
  EXPECT_TRUE(made->parts.empty());
}

TEST_F(SlicingTest, ALaunchBelowTheDaemonsPresentFloorRunsWhole) {
  have_company();
  turns[0].slicing_floor = 2 * kBlocks;
  const auto made = launch(1, event(0));
  grant_now();
  EXPECT_EQ(made->wholes, 1);
  EXPECT_TRUE(made->parts.empty());
}

TEST_F(SlicingTest, AShortKernelIsMeasuredInPartsOnceAndRunsWholeFromThenOn) {
  have_company();
  const auto first = launch(1, event(0), 4'000);
  grant_now();
  while (status(event(0)) != kComplete) run_part(*first);
  EXPECT_GE(first->parts.size(), 2U);
  const auto second = launch(2, event(1), 4'000);
  loop.pump();
  EXPECT_EQ(second->wholes, 1);
}

TEST_F(SlicingTest, AKernelThatWasShortAloneRunsWholeWhenOthersCome) {
  launch(1, event(0));
  grant_now();
  run_for(100us);
  have_company();
  const auto second = launch(2, event(1));
  loop.pump();
  EXPECT_EQ(second->wholes, 1);
}

TEST_F(SlicingTest, AKernelThatWasLongAloneIsCutWhenOthersCome) {
  launch(1, event(0));
  grant_now();
  run_for(100ms);
  have_company();
  const auto second = launch(2, event(1));
  loop.pump();
  ASSERT_EQ(second->parts.size(), 1U);
  EXPECT_GT(blocks_of(second->parts[0]), 5'000U) << "by the time that is known";
}

TEST_F(SlicingTest, ALaunchThatCannotBePreparedRunsWholeAndIsReported) {
  const auto made = launch(1, event(0));
  made->readiness_now = Readiness::impossible;
  loop.pump();
  grant(6ms);
  EXPECT_EQ(made->wholes, 1);
  run_for(3s);
  EXPECT_EQ(held_long, std::vector<std::string>{"fake: it is a fake"});
}

TEST_F(SlicingTest, ACommandThatFitsItsOwnTurnIsNotReportedAsLong) {
  enqueue(1);
  loop.pump();
  grant(15ms);
  run_for(14ms);
  EXPECT_EQ(held_long, std::vector<std::string>{});
  enqueue(2);
  loop.pump();
  grant(15ms);
  run_for(16ms);
  EXPECT_EQ(held_long, std::vector<std::string>{"fake: only kernel launches can be sliced"});
}

TEST_F(SlicingTest, TooFewWorkGroupsAreReportedAsTheReason) {
  const auto made = launch(1, event(0), 2 * slicing::kDefaultFloor - 1);
  loop.pump();
  grant(6ms);
  EXPECT_EQ(made->wholes, 1);
  run_for(3s);
  EXPECT_EQ(held_long, std::vector<std::string>{"fake: it has too few work-groups"});
}

TEST_F(SlicingTest, ACommandThatOutlastsALoneTurnIsReportedWhenOthersHaveCome) {
  enqueue(1, event(0));
  grant_now();
  turns[0].state = static_cast<std::uint32_t>(TurnState::busy_asked);
  run_for(3s);
  EXPECT_EQ(held_long, std::vector<std::string>{"fake: only kernel launches can be sliced"});
}

class SlicingAtRandom : public SlicingTest {
 protected:
  SlicingAtRandom() : SlicingTest(slicing_settings("time", 1500, {session::SlicingWish::Kind::random, 7})) {}
};

TEST_F(SlicingAtRandom, EveryLaunchOfMoreThanOneGroupIsCutAndRunsCompletely) {
  std::uint64_t parts = 0;
  for (std::uint64_t blocks = 1; blocks <= 200; ++blocks) {
    const auto made = launch(static_cast<int>(blocks), event(static_cast<std::uint32_t>(blocks)), blocks);
    loop.pump();
    if (state() == TurnState::wanting) grant();
    while (status(event(static_cast<std::uint32_t>(blocks))) != kComplete) run_for(1us);
    std::uint64_t done = 0;
    for (const slicing::Box& part : made->parts) done += blocks_of(part);
    EXPECT_EQ(done, made->wholes == 0 ? blocks : 0);
    EXPECT_EQ(made->wholes, blocks == 1 ? 1 : made->wholes);
    parts += made->parts.size();
  }
  EXPECT_GT(parts, 400U);
}

class SlicingOff : public SlicingTest {
 protected:
  SlicingOff() : SlicingTest(slicing_settings("time", 1500, {session::SlicingWish::Kind::off})) {}
};

TEST_F(SlicingOff, NothingIsCut) {
  have_company();
  const auto made = launch(1, event(0));
  loop.pump();
  grant(6ms);
  EXPECT_EQ(made->wholes, 1);
  run_for(3s);
  EXPECT_EQ(held_long, std::vector<std::string>{"fake: slicing is off"});
}

class SlicingByThePapersRule : public SlicingTest {
 protected:
  SlicingByThePapersRule() : SlicingTest(slicing_settings("static", 1500, {})) {}
};

TEST_F(SlicingByThePapersRule, GridsOfMoreThan600SquaredGroupsAreCutIntoPartsOfTheFloor) {
  have_company();
  const auto small = launch(1, event(0), 360'000);
  grant_now();
  EXPECT_EQ(small->wholes, 1);
  run_for(1us);
  const auto large = launch(2, event(1), 360'001);
  loop.pump();
  while (status(event(1)) != kComplete) {
    EXPECT_LE(blocks_of(large->parts.back()), 1'501U);
    run_part(*large);
  }
  EXPECT_EQ(large->wholes, 0);
}

}  // namespace
}  // namespace fairgv::vgpu
