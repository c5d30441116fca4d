// A turn from wish to end: the wish, the announcement, and the sum of the use.
#include "tests/unit/vgpu/turn/turn_fixture.hpp"

namespace fairgv::vgpu {
namespace {

TEST_F(TurnTest, WithoutATurnNothingMayBeIssuedAndOneKnockAsks) {
  EXPECT_EQ(may_issue(false), 0U);
  EXPECT_EQ(state(), TurnState::idle);
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(knocks, 1);
}

TEST_F(TurnTest, AGrantIsNoticedAsAChange) {
  may_issue();
  EXPECT_FALSE(keeper.changed());
  grant(0ns);
  EXPECT_TRUE(keeper.changed());
  EXPECT_GT(may_issue(), 0U);
  EXPECT_FALSE(keeper.changed());
  EXPECT_EQ(state(), TurnState::busy);
}

TEST_F(TurnTest, AnUnusedTurnThatWasTakenBackIsAskedForAgain) {
  may_issue();
  grant(0ns);
  may_issue();
  issue(1);
  complete_after(1ms, 1, false);
  ASSERT_EQ(state(), TurnState::held);
  ask_back();
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(knocks, 2);
}

TEST_F(TurnTest, AGrantThatArrivesWhileAnotherStateIsBeingSettledIsStillNoticed) {
  EXPECT_EQ(may_issue(), 0U);
  grant(0ns);
  settle(true);  // nothing to settle: there is no turn in use
  EXPECT_TRUE(keeper.changed());
  EXPECT_GT(may_issue(), 0U);
}

TEST_F(TurnTest, AnAnnouncedTurnIsWorthWaitingForAwakeUntilItComesOrForAWhile) {
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_FALSE(keeper.due_until());
  ++turn.due;
  EXPECT_TRUE(keeper.changed());
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_FALSE(keeper.changed());
  ASSERT_TRUE(keeper.due_until());
  EXPECT_EQ(*keeper.due_until(), now + 1200us);
  const TimePoint until = *keeper.due_until();
  now += 100us;
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_EQ(*keeper.due_until(), until) << "announced once";
  grant(6ms);
  EXPECT_GT(may_issue(), 0U);
  EXPECT_FALSE(keeper.due_until());
}

TEST_F(TurnTest, AnAnnouncedTurnIsWaitedForLongerAfterALongSlice) {
  EXPECT_EQ(may_issue(), 0U);
  grant(15ms);
  EXPECT_GT(may_issue(), 0U);
  run_one(15ms, true);
  ASSERT_EQ(state(), TurnState::wanting);
  ++turn.due;
  EXPECT_EQ(may_issue(), 0U);
  ASSERT_TRUE(keeper.due_until());
  EXPECT_EQ(*keeper.due_until(), now + 3ms);
}

TEST_F(TurnTest, AnAnnouncementThatComesTooLateIsOfNoUseLater) {
  EXPECT_EQ(may_issue(), 0U);
  ++turn.due;
  grant(6ms);
  EXPECT_GT(may_issue(), 0U);
  run_one(6ms, true);  // and gives the turn back
  ASSERT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_FALSE(keeper.due_until());
}

TEST_F(TurnTest, UsedTimeGrowsWhileATurnGoesOn) {
  may_issue();
  grant(0ns);
  issue(may_issue());
  complete_after(3ms, 1, true);
  EXPECT_EQ(used(), 3ms) << "one is still in flight";
  complete_after(2ms, 1, false);
  EXPECT_EQ(used(), 5ms);
}

TEST_F(TurnTest, FromTurnToTurnUsedTimeAddsUp) {
  for (int i = 1; i <= 4; ++i) {
    may_issue();
    grant(6ms);
    run_allowed(20ms);
    EXPECT_EQ(used(), i * 20ms);
  }
}

}  // namespace
}  // namespace fairgv::vgpu
