// Turns with an end, while others wait: samples, free runs, commands that fit, and the wait for more to do.
#include <vector>

#include "tests/unit/vgpu/turn/turn_fixture.hpp"

namespace fairgv::vgpu {
namespace {

struct ContendedTurnTest : TurnTest {};

// Section 3.3.2's measurements beside the device's own: from the first start to the last end of a run.
TEST_F(ContendedTurnTest, RunsWithTimestampsAreCrossChecked) {
  may_issue();
  grant(6ms);
  ASSERT_GT(may_issue(), 0U);
  issue(1);
  keeper.ran(1'000, 91'000);
  complete_after(100us, 1, true);
  EXPECT_EQ(turn.checked_ns, 100'000U);
  EXPECT_EQ(turn.by_events_ns, 90'000U);
  ASSERT_GT(may_issue(), 0U);
  issue(1);  // without timestamps
  complete_after(100us, 1, true);
  EXPECT_EQ(turn.checked_ns, 100'000U);
  for (int sample = 2; sample < 5; ++sample) {
    ASSERT_GT(may_issue(), 0U);
    issue(1);
    complete_after(100us, 1, true);
  }
  ASSERT_GT(may_issue(), 0U);
  issue(2);  // a free run; the first of the two has no timestamps
  keeper.ran(300'000, 400'000);
  complete_after(200us, 2, true);
  EXPECT_EQ(turn.checked_ns, 100'000U);
  ASSERT_GT(may_issue(), 0U);
  issue(2);
  keeper.ran(520'000, 600'000);
  keeper.ran(610'000, 700'000);
  complete_after(200us, 2, true);
  EXPECT_EQ(turn.checked_ns, 300'000U);
  EXPECT_EQ(turn.by_events_ns, 270'000U) << "the driver's own gap counts";
  EXPECT_EQ(used(), 900us) << "what is charged does not change";
}

TEST_F(ContendedTurnTest, AContendedTurnSamplesFiveRunsFreelyAndGivesBack) {
  may_issue();
  grant(6ms);
  for (int sample = 0; sample < 5; ++sample) {
    EXPECT_GT(may_issue(), 0U);
    issue(1);
    EXPECT_EQ(may_issue(), 0U) << "one by one";
    complete_after(100us, 1, true);
  }
  EXPECT_EQ(turn.samples, 5U);
  EXPECT_EQ(run_allowed(100us), 55U) << "what is left of 6 ms at 100 us each";
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(used(), 6ms);
  EXPECT_EQ(turn.syncs, 6U);
  EXPECT_EQ(turn.commands, 60U);
  EXPECT_EQ(knocks, 2);
  grant(6ms);
  EXPECT_EQ(run_allowed(100us), 60U) << "the kernel is known by now";
  EXPECT_EQ(turn.samples, 5U);
  EXPECT_EQ(turn.syncs, 7U);
}

// A worker that is asked for the turn has to wait for its commands in flight.
TEST_F(ContendedTurnTest, AFreeRunHasHalfASliceInFlightAndIsToppedUpWhenHalfOfThatHasEnded) {
  may_issue();
  grant(16ms);
  for (int sample = 0; sample < 5; ++sample) run_one(100us, true);
  for (int i = 0; i < 80; ++i) {
    ASSERT_GT(may_issue(), 0U) << i;
    issue(1);
  }
  EXPECT_EQ(may_issue(), 0U);
  for (int i = 1; i < 40; ++i) {
    complete_after(100us, 1, true);
    EXPECT_FALSE(keeper.worth_issuing(kKernel)) << i;
  }
  complete_after(100us, 1, true);
  EXPECT_TRUE(keeper.worth_issuing(kKernel));
  EXPECT_LE(keeper.observe_every(), 40U) << "so that it is seen";
  EXPECT_EQ(turn.syncs, 5U) << "it goes on being one run";
}

TEST_F(ContendedTurnTest, AsksBackWithinWhatIsInFlight) {
  may_issue();
  grant(16ms);
  for (int sample = 0; sample < 5; ++sample) run_one(100us, true);
  std::uint64_t in_flight = 0;
  for (; may_issue() > 0; ++in_flight) issue(1);
  ask_back();
  while (in_flight-- > 0) {
    EXPECT_EQ(may_issue(), 0U);
    complete_after(100us, 1, true);
  }
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(used(), 8500us);
}

// Where many share the device, the loop thread may get no core in time.
TEST_F(ContendedTurnTest, AFreeRunOfAShortSliceIsInFlightAsAWhole) {
  may_issue();
  grant(6ms);
  for (int sample = 0; sample < 5; ++sample) run_one(100us, true);
  for (int i = 0; i < 55; ++i) {
    ASSERT_GT(may_issue(), 0U) << i;
    issue(1);
  }
  EXPECT_EQ(may_issue(), 0U);
}

TEST_F(ContendedTurnTest, AnUnknownKernelBehindKnownOnesWaitsForThemAndIsSampled) {
  may_issue();
  grant(6ms);
  for (int sample = 0; sample < 5; ++sample) run_one(100us, true);
  issue(1);
  EXPECT_TRUE(keeper.admits(kKernel));
  EXPECT_FALSE(keeper.admits(kKernel + 1));
  EXPECT_EQ(keeper.may_issue(kKernel + 1, now).count, 0U);
  complete_after(100us, 1, true);
  EXPECT_GT(keeper.may_issue(kKernel + 1, now).count, 0U);
}

TEST_F(ContendedTurnTest, AKernelThatDoesNotFitAnyMoreEndsTheTurn) {
  may_issue();
  grant(6ms);
  EXPECT_EQ(run_allowed(4ms), 1U);
  for (int sample = 1; sample < 5; ++sample) {
    run_allowed(4ms);
    if (state() == TurnState::wanting) grant(6ms);
  }
  EXPECT_EQ(run_allowed(4ms), 1U) << "known to take 4 of 6 ms";
  EXPECT_EQ(state(), TurnState::wanting) << "the next would not fit";
}

TEST_F(ContendedTurnTest, AContendedTurnEndsWithASampleThatFillsTheSlice) {
  may_issue();
  grant(6ms);
  EXPECT_EQ(run_allowed(20ms), 1U);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(used(), 20ms);
}

TEST_F(ContendedTurnTest, AContendedTurnWithNothingToIssueLingersShortlyAndThenGivesBack) {
  may_issue();
  grant(6ms);
  run_one(100us, false);
  ASSERT_EQ(state(), TurnState::busy);
  ASSERT_TRUE(keeper.lingers_until());
  EXPECT_EQ(*keeper.lingers_until(), now + Linger::kLongest);
  now = *keeper.lingers_until();
  settle(false);
  EXPECT_EQ(state(), TurnState::idle);
  EXPECT_EQ(used(), 100us) << "the futile wait is not charged";
}

TEST_F(ContendedTurnTest, LingeringInVainGetsShorterALongOneIsTriedNowAndThenAndInBetweenThereIsNone) {
  constexpr std::size_t kTrial = sched::ProbePace::kFirst;
  constexpr std::size_t kNextTrial = kTrial + 1 + 2 * sched::ProbePace::kFirst;
  std::vector<Duration> waits;
  for (std::size_t turns = 0; turns <= kNextTrial; ++turns) {
    may_issue();
    grant(6ms);
    run_one(100us, false);
    waits.push_back(state() == TurnState::idle ? Duration(0) : *keeper.lingers_until() - now);
    now += waits.back();
    if (state() != TurnState::idle) settle(false);
    ASSERT_EQ(state(), TurnState::idle);
    EXPECT_EQ(used(), (turns + 1) * 100us);
    now += 20ms;  // longer than any wait that may pay
  }
  EXPECT_EQ(waits[0], Linger::kLongest);
  EXPECT_LT(waits[1], waits[0]);
  EXPECT_EQ(waits[kTrial - 1], Linger::kShortest);
  EXPECT_EQ(waits[kTrial], Linger::kLongest);
  for (std::size_t i = kTrial + 1; i < kNextTrial; ++i) EXPECT_EQ(waits[i], 0us) << i;
  EXPECT_EQ(waits[kNextTrial], Linger::kLongest);
}

TEST_F(ContendedTurnTest, ATurnLingersAgainAfterAShortPause) {
  const auto turn_of_one = [this] {
    may_issue();
    grant(6ms);
    run_one(100us, false);
  };
  for (std::uint32_t turns = 0; turns <= sched::ProbePace::kFirst; ++turns) {
    turn_of_one();
    now = *keeper.lingers_until();
    settle(false);
    now += 20ms;
  }
  turn_of_one();
  ASSERT_EQ(state(), TurnState::idle) << "at once";
  now += 200us;
  turn_of_one();
  ASSERT_EQ(state(), TurnState::busy);
  EXPECT_EQ(*keeper.lingers_until(), now + 400us);
}

TEST_F(ContendedTurnTest, LingeringThatPaysFollowsThePausesAndTheyAreCharged) {
  may_issue();
  grant(30ms);
  Duration expected = 0us;
  for (int command = 0; command < 250; ++command) {
    if (command > 0) now += 15us;
    expected += command > 0 ? 65us : 50us;
    ASSERT_GT(may_issue(), 0U);
    issue(1);
    complete_after(50us, 1, false);
  }
  ASSERT_TRUE(keeper.lingers_until());
  EXPECT_EQ(*keeper.lingers_until(), now + 30us) << "twice the pause";
  now = *keeper.lingers_until();
  settle(false);
  EXPECT_EQ(used(), expected);
}

TEST_F(ContendedTurnTest, APauseThatIsLongerOnceInARoundDoesNotLoseTheTurn) {
  may_issue();
  grant(30ms);
  constexpr int kCommandsInARound = 25;  // srad's
  for (int command = 0; command < 8 * kCommandsInARound; ++command) {
    if (command > 0) {
      ASSERT_TRUE(keeper.lingers_until());
      const Duration pause = command % kCommandsInARound == 0 ? 60us : 5us;
      ASSERT_GT(*keeper.lingers_until() - now, pause) << command;
      now += pause;
    }
    ASSERT_GT(may_issue(), 0U);
    issue(1);
    complete_after(50us, 1, false);
  }
}

TEST_F(ContendedTurnTest, AShortPauseIsLearntEvenWhenTheTurnWasGoneByThen) {
  for (int turns = 0; turns < 12; ++turns) {
    may_issue();
    grant(6ms);
    run_one(100us, false);
    now = *keeper.lingers_until();
    settle(false);
    now += 20ms;
  }
  may_issue();
  grant(6ms);
  run_one(100us, false);
  const TimePoint ended = now;
  now = *keeper.lingers_until();
  ASSERT_LT(now - ended, 100us);
  settle(false);
  now = ended + 200us;
  may_issue();
  grant(6ms);
  run_one(100us, false);
  EXPECT_EQ(*keeper.lingers_until(), now + 400us);
}

TEST_F(ContendedTurnTest, AContendedTurnIsOverWhenItsPausesFillTheSlice) {
  may_issue();
  grant(6ms);
  int commands = 0;
  for (; state() != TurnState::wanting && commands < 1000; ++commands) {
    run_one(10us, true);
    now += 15us;
    if (state() == TurnState::busy) settle(true);
  }
  EXPECT_LT(used(), 6ms + 100us);
  EXPECT_GE(used(), 6ms - 600us);
}

TEST_F(ContendedTurnTest, AContendedTurnThatIsAskedGivesBackOnceDrained) {
  may_issue();
  grant(6ms);
  run_one(100us, true);
  ASSERT_GT(may_issue(), 0U);
  issue(1);
  ask_back();
  complete_after(100us, 1, true);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(used(), 200us);
}

TEST_F(ContendedTurnTest, AContendedTurnThatComesWhenTheWorkIsGoneIsGivenBackUncharged) {
  may_issue();
  grant(6ms);
  EXPECT_EQ(may_issue(false), 0U);
  EXPECT_EQ(state(), TurnState::busy);
  ASSERT_TRUE(keeper.lingers_until());
  now = *keeper.lingers_until();
  settle(false);
  EXPECT_EQ(state(), TurnState::idle);
  EXPECT_EQ(used(), 0ns);
}

}  // namespace
}  // namespace fairgv::vgpu
