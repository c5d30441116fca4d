// The accountant of one turn: when it samples, how much it predicts, and when it stops.
#include "sched/slice_plan.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace {

using fairgv::sched::Duration;
using fairgv::sched::SlicePlan;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Step = SlicePlan::Step;

// Carries a turn through on a device whose nth command (from 0) takes time_of(n), for a program that never
// runs out. Returns the number of commands between synchronisations.
std::vector<std::uint64_t> run_turn(SlicePlan& plan, const std::function<Duration(std::uint64_t)>& time_of) {
  std::vector<std::uint64_t> runs;
  std::uint64_t issued = 0;
  while (plan.next() != Step::stop) {
    Duration busy{0};
    const std::uint64_t run = plan.allowance();
    for (std::uint64_t i = 0; i < run; ++i) busy += time_of(issued++);
    plan.measured(busy, run);
    runs.push_back(run);
    if (runs.size() > 10'000) {
      ADD_FAILURE() << "the turn does not end";
      break;
    }
  }
  return runs;
}

std::function<Duration(std::uint64_t)> always(Duration time) {
  return [time](std::uint64_t) { return time; };
}

TEST(SlicePlan, MeasuresFiveCommandsSinglyThenPredictsTheRestAndStops) {
  SlicePlan plan;
  for (int sample = 0; sample < 5; ++sample) {
    ASSERT_EQ(plan.next(), Step::measure_one);
    ASSERT_EQ(plan.allowance(), 1U);
    plan.measured(microseconds(100), 1);
  }
  EXPECT_EQ(plan.next(), Step::run_many);
  EXPECT_EQ(plan.mean(), microseconds(100));
  EXPECT_EQ(plan.allowance(), 55U);  // (6 ms - 5 x 100 us) / 100 us
  plan.measured(microseconds(5'500), 55);
  EXPECT_EQ(plan.next(), Step::stop);
  EXPECT_EQ(plan.allowance(), 0U);
  EXPECT_EQ(plan.used(), milliseconds(6));
  EXPECT_EQ(plan.commands(), 60U);
}

TEST(SlicePlan, PredictsFromTheMeanOfUnequalSamples) {
  SlicePlan plan(milliseconds(6), 3);
  for (int each : {100, 200, 600}) plan.measured(microseconds(each), 1);
  EXPECT_EQ(plan.mean(), microseconds(300));
  EXPECT_EQ(plan.allowance(), 17U);  // (6 ms - 0.9 ms) / 0.3 ms
}

TEST(SlicePlan, StopsDuringSamplingOnceTheSliceIsUsedUp) {
  SlicePlan plan;
  plan.measured(milliseconds(4), 1);
  ASSERT_EQ(plan.next(), Step::measure_one);
  plan.measured(milliseconds(4), 1);
  EXPECT_EQ(plan.next(), Step::stop);
  EXPECT_EQ(plan.used(), milliseconds(8));  // the overrun is reported whole, as debt
}

TEST(SlicePlan, StopsAfterSamplingWhenNotEvenOneMoreFits) {
  SlicePlan plan;
  EXPECT_EQ(run_turn(plan, always(microseconds(1'100))), (std::vector<std::uint64_t>{1, 1, 1, 1, 1}));
  EXPECT_EQ(plan.used(), microseconds(5'500));
}

TEST(SlicePlan, AKnownMeanSkipsTheSamples) {
  SlicePlan plan(milliseconds(6), 5, microseconds(100));
  EXPECT_EQ(plan.next(), Step::run_many);
  EXPECT_EQ(plan.allowance(), 60U);
  EXPECT_EQ(run_turn(plan, always(microseconds(100))), (std::vector<std::uint64_t>{60}));
}

TEST(SlicePlan, AKnownMeanBeyondTheSliceStillLetsOneCommandRun) {
  SlicePlan plan(milliseconds(6), 5, milliseconds(100));
  EXPECT_EQ(run_turn(plan, always(milliseconds(100))), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(plan.used(), milliseconds(100));
}

TEST(SlicePlan, AKnownMeanOfZeroCountsAsUnknown) {
  SlicePlan plan(milliseconds(6), 5, Duration(0));
  EXPECT_EQ(plan.next(), Step::measure_one);
  EXPECT_EQ(plan.mean(), Duration(0));
}

TEST(SlicePlan, AWrongKnownMeanIsReplacedByWhatWasMeasured) {
  SlicePlan plan(milliseconds(6), 5, milliseconds(3));
  EXPECT_EQ(plan.allowance(), 2U);
  plan.measured(microseconds(60), 2);
  EXPECT_EQ(plan.mean(), microseconds(30));
  EXPECT_EQ(plan.allowance(), 198U);  // (6 ms - 60 us) / 30 us
}

TEST(SlicePlan, RunsOnWithANewPredictionWhenCommandsBecomeShorter) {
  SlicePlan plan;
  const auto runs =
      run_turn(plan, [](std::uint64_t n) { return n < 5 ? microseconds(100) : microseconds(20); });
  EXPECT_EQ(runs, (std::vector<std::uint64_t>{1, 1, 1, 1, 1, 55,
                                              220}));  // 220 = (6 ms - 0.5 ms - 55 x 20 us) / 20 us
  EXPECT_EQ(plan.used(), milliseconds(6));
}

TEST(SlicePlan, StopsAfterTheRunInWhichCommandsBecameLonger) {
  SlicePlan plan;
  const auto runs =
      run_turn(plan, [](std::uint64_t n) { return n < 5 ? microseconds(100) : milliseconds(1); });
  EXPECT_EQ(runs, (std::vector<std::uint64_t>{1, 1, 1, 1, 1, 55}));
  EXPECT_EQ(plan.used(), microseconds(55'500));
  EXPECT_EQ(plan.mean(), milliseconds(1));  // what the next turn should expect
}

TEST(SlicePlan, ASmallRestIsNotWorthAnotherSynchronisation) {
  SlicePlan plan(milliseconds(6), 5, microseconds(10));
  ASSERT_EQ(plan.allowance(), 600U);
  plan.measured(microseconds(5'500), 600);  // 500 us left: many commands, but less than a tenth of the slice
  EXPECT_EQ(plan.next(), Step::stop);
}

TEST(SlicePlan, AProgramThatIssuesLessThanAllowedMayGoOn) {
  SlicePlan plan(milliseconds(6), 5, microseconds(100));
  plan.measured(microseconds(1'000), 10);
  EXPECT_EQ(plan.next(), Step::run_many);
  EXPECT_EQ(plan.allowance(), 50U);
}

TEST(SlicePlan, CommandsTooShortToMeasureNeitherDivideByZeroNorRunForEver) {
  SlicePlan plan;
  const auto runs = run_turn(plan, always(Duration(0)));
  EXPECT_EQ(runs, (std::vector<std::uint64_t>{1, 1, 1, 1, 1, 5'995}));  // 6 ms / 1 us in all
  EXPECT_EQ(plan.used(), Duration(0));
}

TEST(SlicePlan, NoPredictionAssumesCommandsBelowAMicrosecond) {
  SlicePlan plan(milliseconds(6), 5, milliseconds(1));
  plan.measured(milliseconds(3), 3);
  plan.measured(nanoseconds(10), 1);
  EXPECT_EQ(plan.allowance(), 2'999U);  // (3 ms - 10 ns) / 1 us
}

TEST(SlicePlan, TheLimitOnCommandsHoldsWhileSamplingToo) {
  SlicePlan plan(microseconds(3), 5);
  EXPECT_EQ(run_turn(plan, always(Duration(0))), (std::vector<std::uint64_t>{1, 1, 1}));
}

TEST(SlicePlan, WithoutSamplesOrHistoryOneCommandIsStillMeasured) {
  SlicePlan plan(milliseconds(6), 0);
  EXPECT_EQ(run_turn(plan, always(milliseconds(1))), (std::vector<std::uint64_t>{1, 5}));
}

TEST(SlicePlan, AReportWithoutCommandsCountsTimeButLeavesThePrediction) {
  SlicePlan plan(milliseconds(6), 5, microseconds(100));
  plan.measured(milliseconds(2), 0);
  EXPECT_EQ(plan.used(), milliseconds(2));
  EXPECT_EQ(plan.mean(), microseconds(100));
  EXPECT_EQ(plan.allowance(), 40U);
}

TEST(SlicePlan, NegativeTimeIsNoCredit) {
  SlicePlan plan;
  plan.measured(milliseconds(1), 1);
  plan.measured(milliseconds(-5), 1);
  EXPECT_EQ(plan.used(), milliseconds(1));
}

TEST(SlicePlan, ASliceWithoutLengthStillLetsOneCommandRun) {
  SlicePlan plan(nanoseconds(0));
  EXPECT_EQ(run_turn(plan, always(microseconds(20))), (std::vector<std::uint64_t>{1}));
}

}  // namespace
