// Reserves under the policy `timegraph`: when a task waits though the device is idle, and shared reserves
// (TimeGraph, section 5).
#include <gtest/gtest.h>

#include "tests/unit/sched/timegraph/task_player.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr Reservation kTenOfForty{10ms, 40ms};

TEST(TimeGraphReserves, ALoneTaskIsHeldBackUntilItsReserveIsReplenished) {
  TaskPlayer player;
  const Time made = player.now;
  player.add_runnable(kA, task(50, kTenOfForty));
  EXPECT_TRUE(player.turn().bounded);
  EXPECT_EQ(player.turn().cost_limit, 0ns);
  EXPECT_EQ(player.run(9ms), kA);
  EXPECT_EQ(player.run(9ms), kA);
  const Decision decision = player.policy.next(player.now);
  EXPECT_FALSE(decision.turn);
  EXPECT_EQ(decision.ask_again, made + 40ms);
  player.now = *decision.ask_again;
  EXPECT_EQ(player.next(), kA);
  EXPECT_EQ(player.left(kA), 2ms);
}

TEST(TimeGraphReserves, ATaskWithABudgetGoesBeforeAHigherOneWithout) {
  TaskPlayer player;
  player.add_runnable(kA, task(90, kTenOfForty));
  player.add_runnable(kB, task(50));
  EXPECT_EQ(player.run(12ms), kA);
  EXPECT_EQ(player.run(12ms), kB);
  EXPECT_EQ(player.run(16ms), kB);
  EXPECT_EQ(player.next(), kA);  // replenished
}

TEST(TimeGraphReserves, AReplenishedTaskTakesTheDeviceFromALowerHtTask) {
  TaskPlayer player;
  const Time made = player.now;
  player.add_runnable(kA, task(90, kTenOfForty));
  player.add_runnable(kB, ht_task(50));
  player.run(12ms);
  ASSERT_EQ(player.next(), kB);
  player.begin(kB);
  EXPECT_EQ(player.policy.review_at(kB, player.now), made + 40ms);
  player.now = made + 40ms - 1ns;
  EXPECT_FALSE(player.policy.must_yield(kB, player.now));
  player.now = made + 40ms;
  EXPECT_TRUE(player.policy.must_yield(kB, player.now));
  EXPECT_EQ(player.policy.review_at(kB, player.now), std::nullopt);
}

TEST(TimeGraphReserves, ATaskWithoutABudgetDoesNotTakeTheDevice) {
  TaskPlayer player;
  player.add_runnable(kA, task(90, kTenOfForty));
  player.run(12ms);
  player.policy.block(kA, player.now);
  player.add_runnable(kB, ht_task(50));
  player.begin(kB);
  player.policy.wake(kA, player.now);
  EXPECT_FALSE(player.policy.preempts(kA, kB, player.now));
  EXPECT_FALSE(player.policy.must_yield(kB, player.now));
}

TEST(TimeGraphReserves, AprioriEnforcementLimitsTheCostOfATurnsCommands) {
  TaskPlayer player;
  player.add_runnable(kA, task(50, kTenOfForty, Enforcement::apriori), 4ms);
  EXPECT_EQ(player.turn().cost_limit, 10ms);
  player.run(4ms);
  EXPECT_EQ(player.turn().cost_limit, 6ms);
  player.policy.expect(kA, 6ms + 1ns, player.now);
  EXPECT_FALSE(player.next());
  player.policy.expect(kA, 6ms, player.now);
  EXPECT_EQ(player.next(), kA);
}

TEST(TimeGraphReserves, AprioriEnforcementSavesUpForALongCommand) {
  TaskPlayer player;
  const Time made = player.now;
  player.add_runnable(kA, task(50, kTenOfForty, Enforcement::apriori), 35ms);
  const Decision decision = player.policy.next(player.now);
  ASSERT_EQ(decision.ask_again, made + 120ms);
  player.now = made + 80ms;
  EXPECT_EQ(player.left(kA), 30ms);
  player.now = made + 120ms;
  EXPECT_EQ(player.turn().cost_limit, 35ms);
  player.run(35ms);
  EXPECT_EQ(player.left(kA), 0ms);
}

TEST(TimeGraphReserves, ALongCommandKeepsWhatItHasSavedWhenAPeriodEndsMeanwhile) {
  TaskPlayer player;
  player.add_runnable(kA, task(50, kTenOfForty, Enforcement::apriori), 35ms);
  player.now += 120ms;
  player.begin(kA);
  player.policy.expect(kA, 1ms, player.now);  // of the command after it
  player.now += 45ms;                         // the period ends at 160 ms
  player.end(kA, 35ms);
  EXPECT_EQ(player.left(kA), 0ms);
}

TEST(TimeGraphReserves, AnHtTaskWithAReserveIsServedAsPrt) {
  TaskPlayer player;
  TenantAttributes attributes = ht_task(50);
  attributes.min = kTenOfForty;
  player.add_runnable(kA, attributes);
  EXPECT_EQ(player.turn().slice, 1ns);
  EXPECT_EQ(player.turn().depth, 1U);
  EXPECT_TRUE(player.turn().bounded);
  attributes.min = {10ms, 10ms};  // the whole device cannot run out
  player.policy.set_attributes(kA, attributes, player.now);
  EXPECT_EQ(player.turn().slice, 6ms);
}

TEST(TimeGraphReserves, TasksOfASharedReserveUseOneBudget) {
  TaskPlayer player;
  for (const TenantId id : {kA, kB})
    player.add_runnable(id, task(50, kTenOfForty, Enforcement::posterior, 3));
  EXPECT_EQ(player.run(6ms), kA);
  EXPECT_EQ(player.run(6ms), kB);
  EXPECT_FALSE(player.next());
  EXPECT_EQ(player.left(kA), -2ms);
  EXPECT_EQ(player.left(kB), -2ms);
  EXPECT_NEAR(player.policy.promised(), 0.25, 1e-6);  // once
}

TEST(TimeGraphReserves, ASharedReserveWhoseFirstTaskHasLeftIsChangedByAnother) {
  TaskPlayer player;
  for (const TenantId id : {kA, kB})
    player.add_runnable(id, task(50, kTenOfForty, Enforcement::posterior, 3));
  player.policy.set_attributes(kB, task(50, {5ms, 40ms}, Enforcement::posterior, 3), player.now);
  EXPECT_EQ(player.left(kB), 10ms) << "it is the first task's";
  player.policy.set_attributes(kA, task(50), player.now);
  player.policy.set_attributes(kB, task(50, {4ms, 40ms}, Enforcement::posterior, 3), player.now);
  EXPECT_EQ(player.left(kB), 4ms);
}

TEST(TimeGraphReserves, ASharedReserveHasTheRuleOfItsFirstTask) {
  TaskPlayer player;
  player.add_runnable(kA, task(50, kTenOfForty, Enforcement::posterior, 3));
  player.add_runnable(kB, task(50, {1ms, 2ms}, Enforcement::apriori, 3));
  player.add_runnable(kC, task(50, {}, Enforcement::posterior, 3));
  for (const TenantId id : {kB, kC}) {
    EXPECT_EQ(&player.policy.reserve(id), &player.policy.reserve(kA));
  }
  player.policy.set_attributes(kB, task(50, {5ms, 10ms}, Enforcement::apriori, 3), player.now);
  EXPECT_EQ(player.left(kA), 10ms);
  EXPECT_FALSE(player.policy.reserve(kA).enforces_before());
  player.policy.set_attributes(kA, task(50, {5ms, 20ms}, Enforcement::apriori, 3), player.now);
  EXPECT_EQ(player.left(kB), 5ms);
  EXPECT_TRUE(player.policy.reserve(kB).enforces_before());
  player.policy.remove(kA, player.now);
  EXPECT_EQ(player.left(kB), 5ms);
  EXPECT_NEAR(player.policy.promised(), 0.25, 1e-6);
}

TEST(TimeGraphReserves, AChangeOfASharedReserveThatDoesNotFitIsIgnored) {
  TaskPlayer player;
  player.add_runnable(kA, task(50, kTenOfForty, Enforcement::posterior, 3));
  player.add_runnable(kB, task(50, {30ms, 40ms}));
  player.policy.set_attributes(kA, task(50, {20ms, 40ms}, Enforcement::posterior, 3), player.now);
  EXPECT_FALSE(player.policy.in_background(kA));
  EXPECT_EQ(player.left(kA), 10ms);
}

TEST(TimeGraphReserves, AnOwnReserveThatGrowsTooLargeBecomesBackground) {
  TaskPlayer player;
  player.add_runnable(kA, task(50, kTenOfForty));
  player.add_runnable(kB, task(50, {30ms, 40ms}));
  player.policy.set_attributes(kA, task(50, {20ms, 40ms}), player.now);
  EXPECT_TRUE(player.policy.in_background(kA));
  EXPECT_NEAR(player.policy.promised(), 0.75, 1e-6);
}

TEST(TimeGraphReserves, NobodyOvertakesTheFirstTaskOfASharedReserveWhileItSavesUp) {
  TaskPlayer player;
  player.add_runnable(kA, task(60, kTenOfForty, Enforcement::apriori, 3), 15ms);
  player.add_runnable(kB, task(50, kTenOfForty, Enforcement::apriori, 3), 1ms);
  EXPECT_FALSE(player.next());
  player.now += 40ms;
  EXPECT_EQ(player.run(15ms), kA);
}

TEST(TimeGraphReserves, ASmallerBackgroundHoldsAllItsTasksBackTogether) {
  TimeGraphPolicy policy(6ms, {5ms, 10ms});
  const Time made{1'000s};
  for (const TenantId id : {kA, kB}) {
    policy.add(id, {}, made);
    policy.wake(id, made);
  }
  ASSERT_EQ(policy.next(made).turn->tenant, kA);
  EXPECT_TRUE(policy.next(made).turn->bounded);
  policy.begin(kA, made);
  policy.charge(kA, 5ms, made + 5ms);
  policy.end(kA, made + 5ms);
  EXPECT_FALSE(policy.next(made + 5ms).turn);
  EXPECT_EQ(policy.next(made + 5ms).ask_again, made + 10ms);
}

TEST(TimeGraphReserves, BackgroundIsTheWholeDevice) {
  TaskPlayer player;
  player.add_runnable(kA, {});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(player.run(100ms), kA);
}

TEST(TimeGraphReserves, UseThatIsChargedLateCounts) {
  TaskPlayer player;
  player.add_runnable(kA, task(50, kTenOfForty));
  player.begin(kA);
  player.policy.end(kA, player.now);
  player.policy.block(kA, player.now);
  player.policy.charge(kA, 15ms, player.now);
  player.policy.wake(kA, player.now);
  EXPECT_FALSE(player.next());
}

TEST(TimeGraphReserves, ATaskMayMoveToAnotherReserveAndBackWithoutARefill) {
  TaskPlayer player;
  player.add_runnable(kA, task(50, kTenOfForty));
  player.run(25ms);
  player.policy.set_attributes(kA, task(50), player.now);
  EXPECT_EQ(player.next(), kA);
  player.policy.set_attributes(kA, task(50, kTenOfForty), player.now);
  EXPECT_EQ(player.left(kA), -15ms);
  EXPECT_FALSE(player.next());
}

}  // namespace
}  // namespace fairgv::sched
