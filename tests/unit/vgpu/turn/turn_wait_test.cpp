// The reasons why a turn permits no more commands.
#include "tests/unit/vgpu/turn/turn_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using session::TurnWait;

class TurnWaitTest : public TurnTest {
 protected:
  TurnWait why(bool work = true) { return keeper.may_issue(next(work), now).why; }
};

TEST_F(TurnWaitTest, NothingWaitsWithoutWork) {
  EXPECT_EQ(why(false), TurnWait::turn) << "of a page that is idle; the issuer knows that nothing waits";
  EXPECT_EQ(may_issue(false), 0U);
  EXPECT_EQ(knocks, 0);
}

TEST_F(TurnWaitTest, ASessionWaitsForItsTurn) {
  EXPECT_EQ(why(), TurnWait::turn);
  EXPECT_EQ(why(), TurnWait::turn) << "it has asked";
  grant(0ms);
  EXPECT_GT(may_issue(), 0U);
}

TEST_F(TurnWaitTest, EnoughIsUnderWayInALoneTurn) {
  may_issue();
  grant(0ms);
  issue(may_issue());
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_EQ(why(), TurnWait::in_flight);
}

TEST_F(TurnWaitTest, ATurnThatIsAskedForDrains) {
  may_issue();
  grant(0ms);
  may_issue();
  issue(1);
  ask_back();
  EXPECT_EQ(why(), TurnWait::asked_back);
}

TEST_F(TurnWaitTest, AnUnknownCommandIsMeasuredByItself) {
  may_issue();
  grant(6ms);
  ASSERT_GT(may_issue(), 0U);
  issue(1);
  EXPECT_EQ(why(), TurnWait::sample);
}

TEST_F(TurnWaitTest, AKnownCommandDoesNotFitIntoTheRestOfTheSlice) {
  may_issue();
  grant(6ms);
  run_allowed(1ms);  // until the kernel is known, and the slice is used
  while (state() != TurnState::wanting) run_allowed(1ms);
  grant(6ms);
  std::uint64_t issued = 0;
  while (may_issue() > 0 && issued < 100) {
    issue(1);
    ++issued;
  }
  EXPECT_GT(issued, 1U);
  EXPECT_EQ(why(), TurnWait::slice);
}

TEST_F(TurnWaitTest, ThePageSaysItOnceForEachChange) {
  keeper.tell_wait(TurnWait::slice);
  EXPECT_EQ(turn.waits_for, static_cast<std::uint32_t>(TurnWait::slice));
  EXPECT_STREQ(session::name_of_wait(turn.waits_for), "slice");
  turn.waits_for = 99;
  keeper.tell_wait(TurnWait::slice);
  EXPECT_EQ(turn.waits_for, 99U) << "a line that both sides share is not written for nothing";
  EXPECT_STREQ(session::name_of_wait(99), "") << "workers may write anything";
  keeper.tell_wait(TurnWait::nothing);
  EXPECT_EQ(turn.waits_for, 0U);
}

}  // namespace
}  // namespace fairgv::vgpu
