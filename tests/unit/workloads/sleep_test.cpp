// The sleep of a workload for a given ratio of its time.
#include <gtest/gtest.h>

#include <random>

#include "tests/workloads/support/sleep.hpp"

namespace workloads {
namespace {

TEST(SleepDue, IsNothingWithoutARatio) {
  EXPECT_EQ(sleep_due(Seconds(3), Seconds(0), 0), Seconds(0));
}

TEST(SleepDue, IsAsLongAsTheWorkAtOneHalf) {
  EXPECT_DOUBLE_EQ(sleep_due(Seconds(0.25), Seconds(0), 0.5).count(), 0.25);
}

TEST(SleepDue, IsNineteenTimesTheWorkAtTheLargestRatio) {
  EXPECT_NEAR(sleep_due(Seconds(0.01), Seconds(0), 0.95).count(), 0.19, 1e-9);
}

TEST(SleepDue, IsNothingUntilASleepThatWasTooLongIsMadeUpFor) {
  EXPECT_EQ(sleep_due(Seconds(1), Seconds(1.5), 0.5), Seconds(0));
  EXPECT_DOUBLE_EQ(sleep_due(Seconds(2), Seconds(1.5), 0.5).count(), 0.5);
}

TEST(SleepDue, KeepsTheRatioWhateverBatchesAndOversleepsAreLike) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int run = 0; run < 100; ++run) {
    const double ratio = 0.95 * uniform(random);
    Seconds awake(0);
    Seconds asleep(0);
    for (int batch = 0; batch < 1'000; ++batch) {
      awake += Seconds(uniform(random));
      const Seconds due = sleep_due(awake, asleep, ratio);
      if (due > Seconds(0)) asleep += due + Seconds(0.1 * uniform(random));
      ASSERT_GE(asleep / (awake + asleep), ratio - 1e-9);
    }
    // The rest is at most one oversleep, of a tenth of a second in some five hundred.
    EXPECT_LE(asleep.count() - awake.count() * ratio / (1 - ratio), 0.1 + 1e-9);
  }
}

}  // namespace
}  // namespace workloads
