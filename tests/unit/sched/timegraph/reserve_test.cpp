// One reserve: TimeGraph's figure 6, and the rules of section 5.1.
#include "sched/policies/timegraph/reserve.hpp"

#include <gtest/gtest.h>

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr Time kMade{1'000s};

Reserve posterior(Duration c, Duration t) {
  return {{c, t}, Enforcement::posterior, kMade};
}

Reserve apriori(Duration c, Duration t) {
  return {{c, t}, Enforcement::apriori, kMade};
}

// Figure 6 (a): four commands of one task under PE. C is 10 ms, and the commands take 4, 8, 9 and 3 ms.
TEST(Reserve, Figure6aEnforcesAfterTheCommand) {
  Reserve reserve = posterior(10ms, 25ms);
  EXPECT_EQ(reserve.budget(), 10ms);
  ASSERT_TRUE(reserve.allows(0ns));
  reserve.charge(4ms);
  ASSERT_TRUE(reserve.allows(0ns));  // 6 ms are left: the second command overruns
  reserve.charge(8ms);
  EXPECT_EQ(reserve.budget(), -2ms);
  EXPECT_FALSE(reserve.allows(0ns));  // the third waits, though the device is idle
  EXPECT_EQ(reserve.allowed_at(0ns), kMade + 25ms);
  reserve.advance(kMade + 25ms - 1ns, 0ns);
  EXPECT_FALSE(reserve.allows(0ns));
  reserve.advance(kMade + 25ms, 0ns);
  EXPECT_EQ(reserve.budget(), 8ms);  // min(C, e + C)
  ASSERT_TRUE(reserve.allows(0ns));
  reserve.charge(9ms);
  EXPECT_FALSE(reserve.allows(0ns));
  reserve.advance(kMade + 50ms, 0ns);
  EXPECT_TRUE(reserve.allows(0ns));
}

// Figure 6 (b): the same four commands under AE, exactly predicted; the second is longer than C.
TEST(Reserve, Figure6bEnforcesBeforeTheCommand) {
  Reserve reserve = apriori(10ms, 25ms);
  ASSERT_TRUE(reserve.allows(4ms));
  reserve.charge(4ms);
  EXPECT_FALSE(reserve.allows(14ms));  // 6 ms are left
  reserve.advance(kMade + 25ms, 14ms);
  EXPECT_EQ(reserve.budget(), 14ms);  // min(x, e + C)
  ASSERT_TRUE(reserve.allows(14ms));
  reserve.charge(14ms);
  EXPECT_FALSE(reserve.allows(6ms));
  reserve.advance(kMade + 50ms, 6ms);
  ASSERT_TRUE(reserve.allows(6ms));
  reserve.charge(6ms);
  EXPECT_FALSE(reserve.allows(5ms));  // the fourth: 4 ms are left
  reserve.advance(kMade + 75ms, 5ms);
  EXPECT_EQ(reserve.budget(), 10ms);  // bounded by C, because x < C
}

TEST(Reserve, PosteriorEnforcementNeedsABudgetAboveZero) {
  Reserve reserve = posterior(10ms, 25ms);
  reserve.charge(10ms - 1ns);
  EXPECT_TRUE(reserve.allows(1h));
  reserve.charge(1ns);
  EXPECT_FALSE(reserve.allows(0ns));
}

TEST(Reserve, AprioriEnforcementLetsACommandUseTheBudgetUp) {
  Reserve reserve = apriori(10ms, 25ms);
  EXPECT_TRUE(reserve.allows(10ms));
  EXPECT_FALSE(reserve.allows(10ms + 1ns));
  reserve.charge(10ms);
  EXPECT_FALSE(reserve.allows(0ns));  // of an unknown cost
}

TEST(Reserve, AnOverrunIsSubtractedFromTheNextReplenishments) {
  Reserve reserve = posterior(10ms, 25ms);
  reserve.charge(45ms);
  EXPECT_EQ(reserve.allowed_at(0ns), kMade + 100ms);  // -35, -25, -15, -5, 5
  reserve.advance(kMade + 75ms, 0ns);
  EXPECT_EQ(reserve.budget(), -5ms);
  EXPECT_EQ(reserve.allowed_at(0ns), kMade + 100ms);
  EXPECT_EQ(reserve.full_at(), kMade + 125ms);
}

TEST(Reserve, ABudgetOfExactlyZeroWaitsForOneMoreReplenishment) {
  Reserve reserve = posterior(10ms, 25ms);
  reserve.charge(20ms);
  EXPECT_EQ(reserve.allowed_at(0ns), kMade + 50ms);  // -10, 0, 10
}

TEST(Reserve, UnusedBudgetIsNotSaved) {
  for (Reserve reserve : {posterior(10ms, 25ms), apriori(10ms, 25ms)}) {
    reserve.charge(3ms);
    reserve.advance(kMade + 1h, 0ns);
    EXPECT_EQ(reserve.budget(), 10ms);
  }
}

TEST(Reserve, ALongCommandSavesUpExactlyItsPredictedCost) {
  Reserve reserve = apriori(10ms, 25ms);
  EXPECT_EQ(reserve.allowed_at(35ms), kMade + 75ms);  // 10, 20, 30, 35
  reserve.advance(kMade + 50ms, 35ms);
  EXPECT_EQ(reserve.budget(), 30ms);
  reserve.advance(kMade + 1h, 35ms);
  EXPECT_EQ(reserve.budget(), 35ms);
  EXPECT_TRUE(reserve.allows(35ms));
  reserve.advance(kMade + 1h + 25ms, 5ms);  // a short one after all
  EXPECT_EQ(reserve.budget(), 10ms);
}

TEST(Reserve, PeriodsGoOnFromItsBeginning) {
  Reserve reserve = posterior(10ms, 25ms);
  reserve.advance(kMade + 60ms, 0ns);
  EXPECT_EQ(reserve.next_replenishment(), kMade + 75ms);
  reserve.advance(kMade + 75ms, 0ns);
  EXPECT_EQ(reserve.next_replenishment(), kMade + 100ms);
}

TEST(Reserve, OfTheWholeDeviceNeverRunsOut) {
  Reserve reserve = posterior(25ms, 25ms);
  reserve.charge(10h);
  EXPECT_TRUE(reserve.allows(0ns));
  EXPECT_EQ(reserve.full_at(), std::nullopt);
}

TEST(Reserve, AnotherRuleGivesNoBudget) {
  Reserve reserve = posterior(10ms, 25ms);
  reserve.charge(8ms);
  reserve.configure({20ms, 100ms}, Enforcement::posterior, kMade + 5ms);
  EXPECT_EQ(reserve.budget(), 2ms);
  EXPECT_EQ(reserve.next_replenishment(), kMade + 25ms);
  reserve.advance(kMade + 25ms, 0ns);
  EXPECT_EQ(reserve.budget(), 20ms);
  reserve.configure({5ms, 10ms}, Enforcement::posterior, kMade + 26ms);
  EXPECT_EQ(reserve.budget(), 5ms);
  EXPECT_EQ(reserve.next_replenishment(), kMade + 36ms);
}

TEST(Reserve, ARestoredReserveGoesOnWhereItWas) {
  Reserve before = posterior(10ms, 25ms);
  before.charge(23ms);
  Reserve after({10ms, 25ms}, Enforcement::posterior, kMade + 7ms);
  after.restore(before.state(), kMade + 7ms);
  EXPECT_EQ(after.state(), before.state());
  after.restore({5ms, kMade + 20ms}, kMade + 7ms);  // of another of its tasks
  EXPECT_EQ(after.state(), before.state());
}

TEST(Reserve, AHugeDebtAndAHugeCommandStayWithinTheRangeOfTime) {
  Reserve owing = posterior(1ns, 1h);
  owing.charge(Duration(std::int64_t{1} << 61));
  EXPECT_EQ(owing.allowed_at(0ns), Time::max());
  owing.advance(kMade + 2h, 0ns);
  EXPECT_FALSE(owing.allows(0ns));
  EXPECT_EQ(apriori(1ns, 1h).allowed_at(Duration(std::int64_t{1} << 61)), Time::max());
}

}  // namespace
}  // namespace fairgv::sched
