// The accountant of one turn: its samples, the commands that it lets run, and the end of the turn.
#include "sched/turn_plan.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace {

using fairgv::sched::CommandHistory;
using fairgv::sched::CommandKind;
using fairgv::sched::Duration;
using fairgv::sched::Sampling;
using fairgv::sched::TurnPlan;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr CommandKind kOneKind = 7;
constexpr CommandKind kOtherKind = 8;

// Carries out a turn for a program that never runs out of work: its nth command (from 0) is of kind
// kind_of(n) and takes time_of(n). Returns the number of commands between synchronisations.
std::vector<std::uint64_t> run_turn(TurnPlan& plan, const std::function<CommandKind(std::uint64_t)>& kind_of,
                                    const std::function<Duration(std::uint64_t)>& time_of) {
  std::vector<std::uint64_t> runs;
  std::uint64_t issued = 0;
  while (plan.admits(kind_of(issued))) {
    Duration busy{0};
    std::uint64_t run = 0;
    while (plan.admits(kind_of(issued))) {
      plan.issued(kind_of(issued));
      busy += time_of(issued);
      ++issued, ++run;
    }
    plan.measured(busy);
    runs.push_back(run);
    if (runs.size() > 10'000) {
      ADD_FAILURE() << "the turn does not end";
      break;
    }
  }
  return runs;
}
std::vector<std::uint64_t> run_turn(TurnPlan& plan, Duration each) {
  return run_turn(
      plan, [](std::uint64_t) { return kOneKind; }, [each](std::uint64_t) { return each; });
}

using Runs = std::vector<std::uint64_t>;

TEST(TurnPlan, AnUnknownKernelIsSampledFiveTimesThenFillsTheSlice) {
  CommandHistory history;
  TurnPlan plan(milliseconds(6), history);
  EXPECT_EQ(run_turn(plan, microseconds(100)), (Runs{1, 1, 1, 1, 1, 55}));
  EXPECT_TRUE(plan.over());
  EXPECT_EQ(plan.used(), milliseconds(6));
  EXPECT_EQ(plan.commands(), 60U);
}

TEST(TurnPlan, AKnownKernelIsNotSampled) {
  CommandHistory history;
  TurnPlan first(milliseconds(6), history);
  run_turn(first, microseconds(100));
  TurnPlan second(milliseconds(6), history);
  EXPECT_EQ(run_turn(second, microseconds(100)), (Runs{60}));
}

TEST(TurnPlan, AsPublishedTheFirstFiveCommandsOfEachTurnAreSampled) {
  CommandHistory history;
  TurnPlan first(milliseconds(6), history, Duration(0), Sampling::per_turn);
  EXPECT_EQ(run_turn(first, microseconds(100)), (Runs{1, 1, 1, 1, 1, 55}));
  TurnPlan second(milliseconds(6), history, Duration(0), Sampling::per_turn);
  EXPECT_EQ(run_turn(second, microseconds(200)), (Runs{1, 1, 1, 1, 1, 25})) << "whatever the history says";
}

TEST(TurnPlan, AsPublishedTheRestIsExpectedToTakeTheMeanOfTheSamplesWhateverItsKind) {
  CommandHistory history;
  TurnPlan plan(milliseconds(6), history, Duration(0), Sampling::per_turn);
  const auto runs = run_turn(
      plan, [](std::uint64_t n) { return n % 2 == 0 ? kOneKind : kOtherKind; },
      [](std::uint64_t n) { return microseconds(n % 2 == 0 ? 100 : 350); });
  ASSERT_GE(runs.size(), 6U);
  EXPECT_EQ(Runs(runs.begin(), runs.begin() + 5), (Runs{1, 1, 1, 1, 1}));
  EXPECT_EQ(runs[5], 25U) << "5 ms are left, at 200 us each";
}

TEST(TurnPlan, AsPublishedALongSampleEndsTheTurn) {
  CommandHistory history;
  TurnPlan plan(milliseconds(6), history, Duration(0), Sampling::per_turn);
  EXPECT_EQ(run_turn(plan, milliseconds(3)), (Runs{1, 1}));
}

TEST(TurnPlan, EveryCommandIsSampledIfThatIsWanted) {
  CommandHistory history;
  for (int turn = 0; turn < 3; ++turn) {
    TurnPlan plan(milliseconds(6), history, Duration(0), Sampling::always);
    EXPECT_EQ(run_turn(plan, microseconds(500)), Runs(12, 1));
    EXPECT_EQ(plan.commands(), 12U);
  }
}

TEST(TurnPlan, ASampleRunsAlone) {
  CommandHistory history;
  TurnPlan plan(milliseconds(6), history);
  plan.issued(kOneKind);
  EXPECT_TRUE(plan.sampling());
  EXPECT_FALSE(plan.admits(kOneKind));
  EXPECT_FALSE(plan.admits(kOtherKind));
  plan.measured(microseconds(10));
  EXPECT_FALSE(plan.sampling());
  EXPECT_TRUE(plan.admits(kOtherKind));
}

TEST(TurnPlan, AnUnknownKernelWaitsUntilTheKnownOnesHaveEnded) {
  CommandHistory history(1);
  history.sampled(kOneKind, microseconds(100));
  TurnPlan plan(milliseconds(6), history);
  plan.issued(kOneKind);
  EXPECT_TRUE(plan.admits(kOneKind));
  EXPECT_FALSE(plan.admits(kOtherKind));
  plan.measured(microseconds(100));
  EXPECT_TRUE(plan.admits(kOtherKind));
}

TEST(TurnPlan, KindsOfDifferentLengthFillTheSliceTogether) {
  CommandHistory history(1);
  history.sampled(kOneKind, microseconds(1'000));
  history.sampled(kOtherKind, microseconds(50));
  TurnPlan plan(milliseconds(6), history);
  const auto runs = run_turn(
      plan, [](std::uint64_t n) { return n % 2 == 0 ? kOneKind : kOtherKind; },
      [](std::uint64_t n) { return n % 2 == 0 ? microseconds(1'000) : microseconds(50); });
  EXPECT_EQ(runs, (Runs{10}));  // five pairs; the next long command does not fit
  EXPECT_EQ(plan.used(), microseconds(5'250));
  EXPECT_TRUE(plan.admits(kOtherKind)) << "a short one still fits";
}

TEST(TurnPlan, TheFirstCommandRunsHoweverLong) {
  CommandHistory history(1);
  history.sampled(kOneKind, milliseconds(40));
  TurnPlan plan(milliseconds(6), history);
  EXPECT_EQ(run_turn(plan, milliseconds(40)), (Runs{1}));
  TurnPlan without_length(Duration(0), history);
  EXPECT_EQ(run_turn(without_length, milliseconds(40)), (Runs{1}));
}

TEST(TurnPlan, SamplingStopsOnceTheSliceIsUsedUp) {
  CommandHistory history;
  TurnPlan plan(milliseconds(6), history);
  EXPECT_EQ(run_turn(plan, milliseconds(2)), (Runs{1, 1, 1}));
  TurnPlan next(milliseconds(6), history);
  EXPECT_EQ(run_turn(next, milliseconds(2)), (Runs{1, 1, 1}))
      << "the fourth and fifth sample, then a known one";
}

TEST(TurnPlan, TimeThatShorterCommandsLeaveIsUsed) {
  CommandHistory history(1);
  history.sampled(kOneKind, microseconds(100));
  TurnPlan plan(milliseconds(6), history);
  const Runs runs = run_turn(plan, microseconds(50));
  EXPECT_EQ(runs.front(), 60U);
  EXPECT_GT(runs.size(), 1U);
  EXPECT_GT(plan.used(), microseconds(5'400));
  EXPECT_LE(plan.used(), milliseconds(6));
}

TEST(TurnPlan, TheTurnIsOverAfterTheRunInWhichCommandsBecameLonger) {
  CommandHistory history(1);
  history.sampled(kOneKind, microseconds(100));
  TurnPlan plan(milliseconds(6), history);
  EXPECT_EQ(run_turn(plan, microseconds(300)), (Runs{60}));
  TurnPlan next(milliseconds(6), history);
  EXPECT_EQ(run_turn(next, microseconds(300)).front(), 30U) << "half corrected";
}

TEST(TurnPlan, ASmallRestIsNotWorthAnotherSynchronisation) {
  CommandHistory history(1);
  history.sampled(kOneKind, microseconds(10));
  TurnPlan plan(milliseconds(6), history);
  for (int i = 0; i < 550; ++i) {
    ASSERT_TRUE(plan.admits(kOneKind));
    plan.issued(kOneKind);
  }
  plan.measured(microseconds(5'500));
  EXPECT_TRUE(plan.over());
  EXPECT_FALSE(plan.admits(kOneKind));
}

TEST(TurnPlan, AProgramThatIssuesLessThanItMayGoesOn) {
  CommandHistory history(1);
  history.sampled(kOneKind, microseconds(100));
  TurnPlan plan(milliseconds(6), history);
  plan.issued(kOneKind);
  plan.measured(microseconds(100));
  EXPECT_FALSE(plan.over());
  EXPECT_TRUE(plan.admits(kOneKind));
}

TEST(TurnPlan, CommandsTooShortToMeasureDoNotRunForEver) {
  CommandHistory history;
  TurnPlan plan(milliseconds(6), history);
  std::uint64_t commands = 0;
  for (const std::uint64_t run : run_turn(plan, Duration(0))) commands += run;
  EXPECT_LT(commands, 13'000U);
}

TEST(TurnPlan, NegativeTimeIsNoCredit) {
  CommandHistory history;
  TurnPlan plan(milliseconds(6), history);
  plan.issued(kOneKind);
  plan.measured(microseconds(-500));
  EXPECT_EQ(plan.used(), Duration(0));
}

}  // namespace
