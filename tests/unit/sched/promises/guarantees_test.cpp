// Guarantees by earliest deadline: which is due, what serving and pausing change.
#include "sched/promises/guarantees.hpp"

#include <gtest/gtest.h>

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr Time kMoment{1'000s};
constexpr Guarantees::Slot kFirstSlot = 0;
constexpr Guarantees::Slot kSecondSlot = 1;
constexpr Guarantees::Slot kThirdSlot = 7;  // slots need not be dense

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
  EXPECT_FALSE(guarantees.has(kFirstSlot));
  guarantees.wake(kFirstSlot, kMoment, false);
  guarantees.block(kFirstSlot);
  guarantees.charge(kFirstSlot, 1ms);
  guarantees.charge_alone(kFirstSlot, 1ms, kMoment);
  guarantees.clear(kFirstSlot);
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
}

TEST_F(GuaranteesTest, OnlyATenantThatHasWorkIsDue) {
  guarantees.set(kFirstSlot, {2ms, 10ms}, kMoment);
  EXPECT_FALSE(guarantees.empty());
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
  guarantees.wake(kFirstSlot, kMoment, false);
  EXPECT_EQ(guarantees.due(kMoment), kFirstSlot);
  EXPECT_EQ(guarantees.quantum(kFirstSlot), 2ms);
  guarantees.block(kFirstSlot);
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
  guarantees.block(kFirstSlot);
  EXPECT_EQ(guarantees.next_due(), std::nullopt);
}

TEST_F(GuaranteesTest, UseMovesTheServedMomentByPeriodOverBudget) {
  give(kFirstSlot, 2ms, 10ms);
  guarantees.charge(kFirstSlot, 1ms);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 5ms);
  EXPECT_EQ(guarantees.due(kMoment + 5ms - 1ns), std::nullopt);
  EXPECT_EQ(guarantees.next_due(), kMoment + 5ms);
  EXPECT_EQ(guarantees.due(kMoment + 5ms), kFirstSlot) << "due when it is not in the future";
}

TEST_F(GuaranteesTest, AnOverrunIsTakenFromLaterBudgets) {
  give(kFirstSlot, 2ms, 10ms);
  guarantees.charge(kFirstSlot, 7ms);
  EXPECT_EQ(guarantees.next_due(), kMoment + 35ms);
}

TEST_F(GuaranteesTest, RoundingNeverFavoursTheTenant) {
  give(kFirstSlot, 3ns, 10ns);
  guarantees.charge(kFirstSlot, 1ns);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 4ns);
  guarantees.charge(kFirstSlot, 3ns);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 14ns);
  guarantees.charge(kFirstSlot, 0ns);
  guarantees.charge(kFirstSlot, -3ns);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 14ns);
}

TEST_F(GuaranteesTest, TheEarliestDeadlineGoesFirst) {
  give(kFirstSlot, 1ms, 50ms);
  give(kSecondSlot, 1ms, 20ms);
  give(kThirdSlot, 1ms, 30ms);
  EXPECT_EQ(guarantees.due(kMoment), kSecondSlot);
  guarantees.charge(kSecondSlot, 1ms);  // due again at 20, with deadline 40
  EXPECT_EQ(guarantees.due(kMoment + 1ms), kThirdSlot);
  EXPECT_EQ(guarantees.due(kMoment + 20ms), kThirdSlot) << "its deadline is 30";
  guarantees.charge(kThirdSlot, 1ms);
  EXPECT_EQ(guarantees.due(kMoment + 20ms), kSecondSlot) << "40 before 50";
  guarantees.charge(kSecondSlot, 1ms);
  EXPECT_EQ(guarantees.due(kMoment + 20ms), kFirstSlot);
  guarantees.charge(kFirstSlot, 1ms);
  EXPECT_EQ(guarantees.next_due(), kMoment + 30ms);
}

TEST_F(GuaranteesTest, EqualDeadlinesGoInTheOrderInWhichTheyBecameDue) {
  give(kSecondSlot, 1ms, 20ms);
  give(kFirstSlot, 1ms, 20ms);
  EXPECT_EQ(guarantees.due(kMoment), kSecondSlot);
}

TEST_F(GuaranteesTest, ALongSleepIsNotOwed) {
  give(kFirstSlot, 2ms, 10ms);
  guarantees.block(kFirstSlot);
  guarantees.wake(kFirstSlot, kMoment + 1s, false);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 1s);
}

TEST_F(GuaranteesTest, AShortPauseIsOwedUpToAPeriod) {
  give(kFirstSlot, 2ms, 10ms);
  guarantees.block(kFirstSlot);
  guarantees.wake(kFirstSlot, kMoment + 4ms, true);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment) << "it was owed that before";
  guarantees.block(kFirstSlot);
  guarantees.wake(kFirstSlot, kMoment + 1s, true);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 990ms);
}

TEST_F(GuaranteesTest, SleepingDoesNotShedAnOverrun) {
  give(kFirstSlot, 2ms, 10ms);
  guarantees.charge(kFirstSlot, 20ms);
  for (const bool short_pause : {true, false}) {
    guarantees.block(kFirstSlot);
    guarantees.wake(kFirstSlot, kMoment + 50ms, short_pause);
    EXPECT_EQ(guarantees.due(kMoment + 50ms), std::nullopt);
    EXPECT_EQ(guarantees.next_due(), kMoment + 100ms);
  }
}

TEST_F(GuaranteesTest, WakingTwiceChangesNothing) {
  give(kFirstSlot, 2ms, 10ms);
  guarantees.wake(kFirstSlot, kMoment + 50ms, false);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment);
}

TEST_F(GuaranteesTest, AChangedReservationKeepsWhatWasServed) {
  give(kFirstSlot, 2ms, 10ms);
  give(kSecondSlot, 1ms, 20ms);
  ASSERT_EQ(guarantees.due(kMoment), kFirstSlot);
  guarantees.set(kFirstSlot, {2ms, 40ms}, kMoment + 3ms);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment);
  EXPECT_EQ(guarantees.due(kMoment + 3ms), kSecondSlot) << "the deadline is the new one";
  guarantees.charge(kSecondSlot, 1ms);
  EXPECT_EQ(guarantees.due(kMoment + 3ms), kFirstSlot) << "still due";
  EXPECT_EQ(guarantees.quantum(kFirstSlot), 2ms);
  guarantees.charge(kFirstSlot, 1ms);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 20ms) << "at the new rate";
}

TEST_F(GuaranteesTest, AReservationMayChangeBeforeItIsDueAndWhileItsTenantSleeps) {
  give(kFirstSlot, 2ms, 10ms);
  guarantees.charge(kFirstSlot, 2ms);
  guarantees.set(kFirstSlot, {5ms, 10ms}, kMoment + 1ms);
  EXPECT_EQ(guarantees.next_due(), kMoment + 10ms);
  guarantees.block(kFirstSlot);
  guarantees.set(kFirstSlot, {1ms, 10ms}, kMoment + 2ms);
  EXPECT_EQ(guarantees.due(kMoment + 20ms), std::nullopt) << "it sleeps";
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 10ms);
}

TEST_F(GuaranteesTest, AnEmptyReservationEndsTheGuarantee) {
  give(kFirstSlot, 2ms, 10ms);
  give(kSecondSlot, 2ms, 10ms);
  guarantees.set(kFirstSlot, {}, kMoment);
  EXPECT_FALSE(guarantees.has(kFirstSlot));
  EXPECT_EQ(guarantees.due(kMoment), kSecondSlot);
  guarantees.clear(kSecondSlot);
  EXPECT_TRUE(guarantees.empty());
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
  guarantees.set(kFirstSlot, {2ms, 10ms}, kMoment + 1s);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 1s) << "a new one begins anew";
  EXPECT_EQ(guarantees.due(kMoment + 1s), std::nullopt) << "its tenant has not woken";
}

TEST_F(GuaranteesTest, TimeAloneServesTheGuaranteeUpToNow) {
  give(kFirstSlot, 2ms, 10ms);
  guarantees.charge_alone(kFirstSlot, 1ms, kMoment + 100ms);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 5ms) << "no more than it had";
  guarantees.charge_alone(kFirstSlot, 50ms, kMoment + 60ms);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 60ms) << "not ahead of time";
  EXPECT_EQ(guarantees.next_due(), kMoment + 60ms) << "and in the order";
  guarantees.charge(kFirstSlot, 10ms);
  guarantees.charge_alone(kFirstSlot, 50ms, kMoment + 70ms);
  EXPECT_EQ(guarantees.served_until(kFirstSlot), kMoment + 110ms) << "it does not go back either";
}

TEST_F(GuaranteesTest, TimeZeroAndKernelsOfHoursOverflowNothing) {
  guarantees.set(kFirstSlot, {1ns, 1s}, Time{});
  guarantees.wake(kFirstSlot, Time{}, true);
  EXPECT_EQ(guarantees.due(Time{}), kFirstSlot);
  Time last{};
  for (int i = 0; i < 50; ++i) {
    guarantees.charge(kFirstSlot, 24h);
    ASSERT_GE(guarantees.served_until(kFirstSlot), last);
    last = guarantees.served_until(kFirstSlot);
  }
  EXPECT_GT(last, Time{} + 24h * 365 * 190);
  EXPECT_EQ(guarantees.due(kMoment), std::nullopt);
  EXPECT_EQ(guarantees.due(last), kFirstSlot);
}

}  // namespace
}  // namespace fairgv::sched
