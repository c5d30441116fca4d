// Guarantees by earliest deadline: which is due, what serving and pausing change.
#include "sched/promises/guarantees.hpp"

#include <gtest/gtest.h>

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr Time kMoment{1'000s};
constexpr Guarantees::Slot kFirst = 0;
constexpr Guarantees::Slot kSecond = 1;
constexpr Guarantees::Slot kThird = 7;  // slots need not be dense

struct GuaranteesTest : testing::Test {
  Guarantees guarantees;

  void give(Guarantees::Slot slot, Duration budget, Duration period) {
    guarantees.set(slot, {budget, period}, kMoment);
    guarantees.wake(slot, kMoment, false);
  }
};

TEST_F(GuaranteesTest, NobodyIsDueWithoutAGuarantee) {
  EXPECT_TRUE(guarantees.empty());
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
  EXPECT_EQ(guarantees.next_due(), std::nullopt);
  EXPECT_FALSE(guarantees.has(kFirst));
  guarantees.wake(kFirst, kMoment, false);
  guarantees.block(kFirst);
  guarantees.charge(kFirst, 1ms);
  guarantees.charge_alone(kFirst, 1ms, kMoment);
  guarantees.clear(kFirst);
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
}

TEST_F(GuaranteesTest, OnlyATenantThatHasWorkIsDue) {
  guarantees.set(kFirst, {2ms, 10ms}, kMoment);
  EXPECT_FALSE(guarantees.empty());
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
  guarantees.wake(kFirst, kMoment, false);
  EXPECT_EQ(guarantees.due(kMoment), kFirst);
  EXPECT_EQ(guarantees.quantum(kFirst), 2ms);
  guarantees.block(kFirst);
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
  guarantees.block(kFirst);
  EXPECT_EQ(guarantees.next_due(), std::nullopt);
}

TEST_F(GuaranteesTest, UseMovesTheServedMomentByPeriodOverBudget) {
  give(kFirst, 2ms, 10ms);
  guarantees.charge(kFirst, 1ms);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 5ms);
  EXPECT_EQ(guarantees.due(kMoment + 5ms - 1ns), std::nullopt);
  EXPECT_EQ(guarantees.next_due(), kMoment + 5ms);
  EXPECT_EQ(guarantees.due(kMoment + 5ms), kFirst) << "due when it is not in the future";
}

TEST_F(GuaranteesTest, AnOverrunIsTakenFromLaterBudgets) {
  give(kFirst, 2ms, 10ms);
  guarantees.charge(kFirst, 7ms);
  EXPECT_EQ(guarantees.next_due(), kMoment + 35ms);
}

TEST_F(GuaranteesTest, RoundingNeverFavoursTheTenant) {
  give(kFirst, 3ns, 10ns);
  guarantees.charge(kFirst, 1ns);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 4ns);
  guarantees.charge(kFirst, 3ns);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 14ns);
  guarantees.charge(kFirst, 0ns);
  guarantees.charge(kFirst, -3ns);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 14ns);
}

TEST_F(GuaranteesTest, TheEarliestDeadlineGoesFirst) {
  give(kFirst, 1ms, 50ms);
  give(kSecond, 1ms, 20ms);
  give(kThird, 1ms, 30ms);
  EXPECT_EQ(guarantees.due(kMoment), kSecond);
  guarantees.charge(kSecond, 1ms);  // due again at 20, with deadline 40
  EXPECT_EQ(guarantees.due(kMoment + 1ms), kThird);
  EXPECT_EQ(guarantees.due(kMoment + 20ms), kThird) << "its deadline is 30";
  guarantees.charge(kThird, 1ms);
  EXPECT_EQ(guarantees.due(kMoment + 20ms), kSecond) << "40 before 50";
  guarantees.charge(kSecond, 1ms);
  EXPECT_EQ(guarantees.due(kMoment + 20ms), kFirst);
  guarantees.charge(kFirst, 1ms);
  EXPECT_EQ(guarantees.next_due(), kMoment + 30ms);
}

TEST_F(GuaranteesTest, EqualDeadlinesGoInTheOrderInWhichTheyBecameDue) {
  give(kSecond, 1ms, 20ms);
  give(kFirst, 1ms, 20ms);
  EXPECT_EQ(guarantees.due(kMoment), kSecond);
}

TEST_F(GuaranteesTest, ALongSleepIsNotOwed) {
  give(kFirst, 2ms, 10ms);
  guarantees.block(kFirst);
  guarantees.wake(kFirst, kMoment + 1s, false);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 1s);
}

TEST_F(GuaranteesTest, AShortPauseIsOwedUpToAPeriod) {
  give(kFirst, 2ms, 10ms);
  guarantees.block(kFirst);
  guarantees.wake(kFirst, kMoment + 4ms, true);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment) << "it was owed that before";
  guarantees.block(kFirst);
  guarantees.wake(kFirst, kMoment + 1s, true);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 990ms);
}

TEST_F(GuaranteesTest, SleepingDoesNotShedAnOverrun) {
  give(kFirst, 2ms, 10ms);
  guarantees.charge(kFirst, 20ms);
  for (const bool short_pause : {true, false}) {
    guarantees.block(kFirst);
    guarantees.wake(kFirst, kMoment + 50ms, short_pause);
    EXPECT_EQ(guarantees.due(kMoment + 50ms), std::nullopt);
    EXPECT_EQ(guarantees.next_due(), kMoment + 100ms);
  }
}

TEST_F(GuaranteesTest, WakingTwiceChangesNothing) {
  give(kFirst, 2ms, 10ms);
  guarantees.wake(kFirst, kMoment + 50ms, false);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment);
}

TEST_F(GuaranteesTest, AChangedReservationKeepsWhatWasServed) {
  give(kFirst, 2ms, 10ms);
  give(kSecond, 1ms, 20ms);
  ASSERT_EQ(guarantees.due(kMoment), kFirst);
  guarantees.set(kFirst, {2ms, 40ms}, kMoment + 3ms);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment);
  EXPECT_EQ(guarantees.due(kMoment + 3ms), kSecond) << "the deadline is the new one";
  guarantees.charge(kSecond, 1ms);
  EXPECT_EQ(guarantees.due(kMoment + 3ms), kFirst) << "still due";
  EXPECT_EQ(guarantees.quantum(kFirst), 2ms);
  guarantees.charge(kFirst, 1ms);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 20ms) << "at the new rate";
}

TEST_F(GuaranteesTest, AReservationMayChangeBeforeItIsDueAndWhileItsTenantSleeps) {
  give(kFirst, 2ms, 10ms);
  guarantees.charge(kFirst, 2ms);
  guarantees.set(kFirst, {5ms, 10ms}, kMoment + 1ms);
  EXPECT_EQ(guarantees.next_due(), kMoment + 10ms);
  guarantees.block(kFirst);
  guarantees.set(kFirst, {1ms, 10ms}, kMoment + 2ms);
  EXPECT_EQ(guarantees.due(kMoment + 20ms), std::nullopt) << "it sleeps";
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 10ms);
}

TEST_F(GuaranteesTest, AnEmptyReservationEndsTheGuarantee) {
  give(kFirst, 2ms, 10ms);
  give(kSecond, 2ms, 10ms);
  guarantees.set(kFirst, {}, kMoment);
  EXPECT_FALSE(guarantees.has(kFirst));
  EXPECT_EQ(guarantees.due(kMoment), kSecond);
  guarantees.clear(kSecond);
  EXPECT_TRUE(guarantees.empty());
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
  guarantees.set(kFirst, {2ms, 10ms}, kMoment + 1s);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 1s) << "a new one begins anew";
  EXPECT_EQ(guarantees.due(kMoment + 1s), std::nullopt) << "its tenant has not woken";
}

TEST_F(GuaranteesTest, TimeAloneServesTheGuaranteeUpToNow) {
  give(kFirst, 2ms, 10ms);
  guarantees.charge_alone(kFirst, 1ms, kMoment + 100ms);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 5ms) << "no more than it had";
  guarantees.charge_alone(kFirst, 50ms, kMoment + 60ms);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 60ms) << "not ahead of time";
  EXPECT_EQ(guarantees.next_due(), kMoment + 60ms) << "and in the order";
  guarantees.charge(kFirst, 10ms);
  guarantees.charge_alone(kFirst, 50ms, kMoment + 70ms);
  EXPECT_EQ(guarantees.served_until(kFirst), kMoment + 110ms) << "it does not go back either";
}

TEST_F(GuaranteesTest, TimeZeroAndKernelsOfHoursOverflowNothing) {
  guarantees.set(kFirst, {1ns, 1s}, Time{});
  guarantees.wake(kFirst, Time{}, true);
  EXPECT_EQ(guarantees.due(Time{}), kFirst);
  Time last{};
  for (int i = 0; i < 50; ++i) {
    guarantees.charge(kFirst, 24h);
    ASSERT_GE(guarantees.served_until(kFirst), last);
    last = guarantees.served_until(kFirst);
  }
  EXPECT_GT(last, Time{} + 24h * 365 * 190);
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
  EXPECT_EQ(guarantees.due(last), kFirst);
}

}  // namespace
}  // namespace fairgv::sched
