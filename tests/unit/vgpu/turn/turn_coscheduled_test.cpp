// A program that waits for its commands runs together with its turns.
#include "tests/unit/vgpu/turn/turn_fixture.hpp"

namespace fairgv::vgpu {
namespace {

struct CoscheduledTurnTest : TurnTest {
  ring::Coscheduling coscheduling;
  TurnClient interactive{
      {turn}, TurnSettings{.slice = 6ms, .samples = 5, .coscheduling = &coscheduling}, [this] { ++knocks; }};

  /// A lone turn of commands of 100 us, each of which the program waits for or does not.
  void run_commands(int commands, bool waits) {
    for (int i = 0; i < commands; ++i) {
      ASSERT_GT(interactive.may_issue(kKernel, now).count, 0U);
      interactive.issued(kKernel, kCpu, now);
      if (waits) coscheduling.synchronous_calls += 1;
      now += 100us;
      interactive.completed(1, 1, now);
      interactive.settle(std::nullopt, now);
    }
  }
};

TEST_F(CoscheduledTurnTest, AProgramThatWaitsForItsCommandsIsToBeWokenWhereItSentThem) {
  interactive.may_issue(kKernel, now);
  grant(0ns);
  run_commands(150, false);
  EXPECT_EQ(turn.interactive_cpu, 0U);
  EXPECT_FALSE(coscheduling.switched_in());
  run_commands(12, true);
  EXPECT_EQ(turn.interactive_cpu, kCpu + 1);
  EXPECT_TRUE(coscheduling.switched_in()) << "alone, so nobody else does it";
  run_commands(250, false);
  EXPECT_EQ(turn.interactive_cpu, 0U) << "another phase";
  EXPECT_FALSE(coscheduling.switched_in());
}

TEST_F(CoscheduledTurnTest, AnUnusedTurnThatIsTakenBackNoLongerCountsOrSpins) {
  interactive.may_issue(kKernel, now);
  grant(0ns);
  run_commands(12, true);
  ASSERT_TRUE(coscheduling.switched_in());
  ASSERT_EQ(state(), TurnState::held);
  ask_back();
  now += 1s;
  interactive.may_issue(kKernel, now);
  ASSERT_EQ(state(), TurnState::wanting);
  EXPECT_FALSE(coscheduling.switched_in()) << "somebody else has the device";
  grant(6ms);
  ASSERT_GT(interactive.may_issue(kKernel, now).count, 0U);
  interactive.issued(kKernel, kCpu, now);
  EXPECT_EQ(turn.interactive_cpu, kCpu + 1) << "the second without the device does not count";
}

TEST_F(CoscheduledTurnTest, GivingTheTurnBackSwitchesTheProgramOut) {
  interactive.may_issue(kKernel, now);
  grant(6ms);
  coscheduling.switch_in();
  coscheduling.synchronous_calls += 11;
  ASSERT_GT(interactive.may_issue(kKernel, now).count, 0U);
  interactive.issued(kKernel, kCpu, now);
  EXPECT_TRUE(coscheduling.switched_in());
  now += 7ms;
  interactive.completed(1, 1, now);
  interactive.settle(kKernel, now);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_FALSE(coscheduling.switched_in());
}

}  // namespace
}  // namespace fairgv::vgpu
