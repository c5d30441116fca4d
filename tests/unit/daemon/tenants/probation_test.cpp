// The time for which a tenant waits whose sessions are killed again and again.
#include "runtime/daemon/tenants/probation.hpp"

#include <gtest/gtest.h>

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

struct ProbationTest : ::testing::Test {
  std::chrono::nanoseconds wait() const { return std::max(probation.may_run_from(now) - now, 0ns); }
  Probation probation;
  Probation::Time now{1'000s};
};

TEST_F(ProbationTest, TheFirstKillIsForgiven) {
  EXPECT_EQ(wait(), 0s);
  probation.killed(now);
  EXPECT_EQ(wait(), 0s);
}

TEST_F(ProbationTest, EachFurtherKillDoublesTheWaitUpToAMinute) {
  probation.killed(now);
  for (const auto expected : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}) {
    probation.killed(now);
    EXPECT_EQ(wait(), expected);
  }
}

TEST_F(ProbationTest, TheWaitBeginsWithTheLastKill) {
  for (int i = 0; i < 4; ++i) probation.killed(now);
  now += 3s;
  EXPECT_EQ(wait(), 1s);
  now += 1s;
  EXPECT_EQ(wait(), 0s);
}

TEST_F(ProbationTest, GoodConductTakesKillsBack) {
  for (int i = 0; i < 4; ++i) probation.killed(now);
  for (const auto expected : {2s, 1s, 0s, 0s, 0s, 0s}) {
    probation.behaved();
    EXPECT_EQ(wait(), expected);
  }
  probation.killed(now);
  EXPECT_EQ(wait(), 0s) << "as the first";
}

TEST_F(ProbationTest, TenMinutesWithoutAKillForgetThemAll) {
  for (int i = 0; i < 8; ++i) probation.killed(now);
  now += Probation::kForgotten;
  EXPECT_EQ(probation.strikes(now), 0U);
  probation.killed(now);
  EXPECT_EQ(wait(), 0s);
}

TEST_F(ProbationTest, AnotherDaemonGoesOnWithIt) {
  for (int i = 0; i < 5; ++i) probation.killed(now);
  const Probation next(probation.strikes(now), probation.last());
  EXPECT_EQ(next.may_run_from(now), probation.may_run_from(now));
}

}  // namespace
}  // namespace fairgv::daemon
