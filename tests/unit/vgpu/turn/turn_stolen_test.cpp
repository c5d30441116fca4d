// Time that other processes take from a CPU device during a turn is not charged.
#include "tests/unit/vgpu/turn/turn_fixture.hpp"

namespace fairgv::vgpu {
namespace {

struct StolenTurnTest : TurnTest {
  Duration stolen{0};  // since the keeper began to watch
  Duration unused{0};  // as the keeper reported it
  int looks = 0;
  int rests = 0;
  bool rested = false;  // when the keeper began to watch
  TurnClient robbed{{turn},
                    TurnSettings{6ms, 5, [this] { ++rests; },
                                 [this](bool since_rest) {
                                   stolen = 0ms;
                                   rested = since_rest;
                                 },
                                 [this](Duration unused_so_far) {
                                   ++looks;
                                   unused = unused_so_far;
                                   return stolen;
                                 }},
                    [this] { ++knocks; }};

  void begin_turn() {
    robbed.may_issue(kKernel, now);
    grant(6ms);
  }
  /// One command that takes `time`, of which other processes steal `theft`.
  void one_command(Duration time, Duration theft) {
    ASSERT_GT(robbed.may_issue(kKernel, now).count, 0U);
    robbed.issued(kKernel, kCpu, now);
    now += time;
    stolen += theft;
    robbed.completed(1, 1, now);
    robbed.settle(kKernel, now);
  }
  void end_turn() {
    ask_back();
    robbed.settle(kKernel, now);
    ASSERT_EQ(state(), TurnState::wanting);
  }
  void one_turn(Duration time, Duration theft) {
    begin_turn();
    one_command(time, theft);
    end_turn();
  }
};

TEST_F(StolenTurnTest, TimeThatOthersTookIsNotCharged) {
  stolen = 1h;  // before the turn, when another tenant had the device
  one_turn(4ms, 1ms);
  EXPECT_EQ(used(), 3ms);
  one_turn(5ms, 2ms);
  EXPECT_EQ(used(), 3ms + 3ms);
  one_turn(5ms, 0ms);
  EXPECT_EQ(used(), 3ms + 3ms + 5ms);
}

// Otherwise tenants that happen to be there later would pay for it: 64 tenants that had crowded each other
// while they started had up to a seventh more than their share half a minute later.
TEST_F(StolenTurnTest, NothingIsChargedFirstAndMadeGoodByLaterTurns) {
  begin_turn();
  one_command(50ms, 45ms);
  EXPECT_EQ(used(), 5ms) << "as soon as the dispatcher can see it";
  end_turn();
  one_turn(6ms, 0ms);
  EXPECT_EQ(used(), 5ms + 6ms);
}

TEST_F(StolenTurnTest, NoMoreIsForgivenThanTheTurnTook) {
  one_turn(4ms, 1h);
  one_turn(6ms, 0ms);
  EXPECT_EQ(used(), 6ms);
}

TEST_F(StolenTurnTest, TheLookForStolenTimeHearsForHowLongNothingWasUnderWay) {
  begin_turn();
  robbed.may_issue(kKernel, now);
  now += 100us;
  one_command(1ms, 0ms);
  now += 50us;
  one_command(1ms, 0ms);
  EXPECT_EQ(unused, 150us);
  now += 30us;
  end_turn();
  EXPECT_EQ(unused, 180us);
  begin_turn();
  one_command(2ms, 0ms);
  EXPECT_EQ(unused, 0us) << "of this turn";
}

// A reading taken while resting is good for the next turn only if nothing ran in between.
TEST_F(StolenTurnTest, RestIsToldBeforeATurnThatIsAskedForAndHoldsForThatTurnOnly) {
  one_turn(1ms, 0ms);
  EXPECT_EQ(rests, 1);
  EXPECT_TRUE(rested);
  one_turn(1ms, 0ms);
  EXPECT_EQ(rests, 1) << "it had work left: its device's threads may be about to go to sleep";
  EXPECT_FALSE(rested);
}

TEST_F(StolenTurnTest, ALoneTurnEndsTheRest) {
  robbed.may_issue(kKernel, now);
  grant(0ns);
  one_command(1ms, 0ms);
  robbed.may_issue(kKernel, now);
  robbed.issued(kKernel, kCpu, now);
  ask_back();
  now += 1ms;
  robbed.completed(1, 1, now);
  robbed.settle(kKernel, now);
  rested = true;
  one_turn(1ms, 0ms);
  EXPECT_EQ(rests, 1);
  EXPECT_FALSE(rested);
}

TEST_F(StolenTurnTest, StolenTimeIsReadAFewTimesInATurnHoweverShortTheCommands) {
  begin_turn();
  for (int i = 0; i < 50; ++i) one_command(100us, 10us);
  EXPECT_LE(looks, TurnMeter::kStolenLooks);
  EXPECT_LE(used(), 50 * 90us);
  EXPECT_GE(used(), 50 * 90us - 6ms / TurnMeter::kStolenLooks) << "and the dispatcher knows most of it";
  end_turn();
  EXPECT_EQ(used(), 50 * 90us);
}

}  // namespace
}  // namespace fairgv::vgpu
