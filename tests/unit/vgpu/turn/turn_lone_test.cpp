// Turns without an end: of a lone tenant, and by the clock.
#include <utility>

#include "tests/unit/vgpu/turn/turn_fixture.hpp"

namespace fairgv::vgpu {
namespace {

struct LoneTurnTest : TurnTest {};

TEST_F(LoneTurnTest, ALoneTenantKeepsItsTurnBetweenCommandsAndIsNeverSampled) {
  may_issue();
  grant(0ns);
  for (int i = 0; i < 100; ++i) {
    ASSERT_GT(may_issue(), 0U);
    EXPECT_EQ(state(), TurnState::busy);
    issue(1);
    complete_after(20us, 1, false);
    EXPECT_EQ(state(), TurnState::held);
    now += 1ms;
  }
  EXPECT_EQ(turn.samples, 0U);
  EXPECT_EQ(turn.syncs, 0U);
  EXPECT_EQ(turn.commands, 100U);
  EXPECT_EQ(turn.launches, 100U);
  EXPECT_EQ(used(), 100 * 20us) << "idle time between commands is not charged";
  EXPECT_EQ(knocks, 1);
}

TEST_F(LoneTurnTest, ALoneTenantHasAboutOneSliceInFlight) {
  may_issue();
  grant(0ns);
  EXPECT_EQ(may_issue(), TurnMeter::kLeastInFlight) << "nothing is known yet";
  for (int i = 0; i < 50; ++i) {
    issue(may_issue());
    complete_after(100us, 1, true);
  }
  EXPECT_EQ(keeper.in_flight() + may_issue(), 60U);
  for (int i = 0; i < 50; ++i) {
    issue(may_issue());
    complete_after(1us, 1, true);
  }
  EXPECT_EQ(keeper.in_flight() + may_issue(), TurnMeter::kMostInFlight);
  for (int i = 0; i < 50; ++i) {
    issue(may_issue());
    complete_after(50ms, 1, true);
  }
  EXPECT_EQ(may_issue(), 0U);
  while (keeper.in_flight() > 1) complete_after(50ms, 1, true);
  EXPECT_EQ(keeper.in_flight() + may_issue(), TurnMeter::kLeastInFlight);
}

TEST_F(LoneTurnTest, TheLoopIsWokenForALoneTenantWhenHalfOfWhatMayBeInFlightHasDrained) {
  for (const auto& [each, left] :
       {std::pair<Duration, std::uint64_t>{100us, 30}, {1ms, 3}, {2ms, 1}, {50ms, 1}}) {
    session::DeviceTurn lone;
    TurnClient one({lone}, TurnSettings{6ms, 5}, [] {});
    one.may_issue(kKernel, now);
    lone.state = static_cast<std::uint32_t>(TurnState::held);
    for (int round = 0; round < 20; ++round) {
      for (std::uint64_t more = one.may_issue(kKernel, now).count; more > 0; --more)
        one.issued(kKernel, kCpu, now);
      EXPECT_FALSE(one.worth_issuing(kKernel)) << "of " << one.in_flight() << " nothing has drained";
      while (!one.worth_issuing(kKernel)) {
        ASSERT_GT(one.in_flight(), 0U);
        one.completed(1, 1, now += each);
      }
    }
    EXPECT_EQ(one.in_flight(), left) << "commands of " << each.count() << " ns";
  }
}

TEST_F(LoneTurnTest, ATurnByTheClockHasSoManyCommandsInFlightHoweverLongTheyAre) {
  may_issue();
  turn.depth = 16;
  grant(0ns);
  EXPECT_EQ(may_issue(), 16U);
  for (const Duration each : {Duration(100us), Duration(1us), Duration(50ms)}) {
    for (int i = 0; i < 50; ++i) {
      issue(may_issue());
      complete_after(each, 1, true);
    }
    EXPECT_EQ(keeper.in_flight() + may_issue(), 16U);
  }
  ask_back();
  while (keeper.in_flight() > 0) complete_after(50ms, 1, true);
  EXPECT_EQ(state(), TurnState::wanting);
  turn.depth = 0;
  grant(0ns);
  EXPECT_EQ(may_issue(), TurnMeter::kLeastInFlight) << "the next may be measured again";
}

TEST_F(LoneTurnTest, ALoneTenantThatIsAskedIssuesNothingMoreDrainsAndGivesBack) {
  may_issue();
  grant(0ns);
  issue(may_issue());
  ask_back();
  EXPECT_TRUE(keeper.changed());
  EXPECT_EQ(may_issue(), 0U);
  complete_after(1ms, 1, true);
  EXPECT_EQ(state(), TurnState::busy_asked) << "one is still in flight";
  complete_after(1ms, 1, true);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(used(), 2ms);
  EXPECT_EQ(knocks, 2);
}

TEST_F(LoneTurnTest, ALoneTenantThatIsAskedWithNothingLeftGoesIdle) {
  may_issue();
  grant(0ns);
  may_issue();
  issue(1);
  ask_back();
  complete_after(1ms, 1, false);
  EXPECT_EQ(state(), TurnState::idle);
  EXPECT_EQ(knocks, 2);
}

}  // namespace
}  // namespace fairgv::vgpu
