// The policy `timegraph`: TimeGraph's figure 5, priorities, turns, and what it hands to its successor.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/sched/timegraph/task_player.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr TenantId kHigh{10};
constexpr TenantId kMedium{20};
constexpr TenantId kLow{30};

// Figure 5 (a): the medium task arrives first, and again while its first command runs; then the high task
// arrives, twice, and the low one.
TEST(TimeGraphPolicy, Figure5aUnderPrtTheHighestPriorityIsNextAfterEveryCommand) {
  TaskPlayer player;
  player.add_runnable(kMedium, task(50));
  ASSERT_EQ(player.next(), kMedium);
  player.begin(kMedium);
  player.policy.wake(kMedium, player.now);  // its second command waits: the device is not idle
  player.add_runnable(kHigh, task(90));
  player.end(kMedium, 2ms);
  EXPECT_EQ(player.next(), kHigh);  // and not the medium task's second command
  player.begin(kHigh);
  player.add_runnable(kLow, task(10));
  player.end(kHigh, 2ms);
  player.policy.block(kHigh, player.now);
  EXPECT_EQ(player.run(2ms), kMedium);
  player.policy.block(kMedium, player.now);
  player.begin(kLow);
  player.policy.wake(kHigh, player.now);  // its second command
  player.end(kLow, 2ms);
  EXPECT_EQ(player.next(), kHigh);
}

TEST(TimeGraphPolicy, APrtTurnIsOneCommandAtATime) {
  TaskPlayer player;
  player.add_runnable(kA, task(50));
  EXPECT_EQ(player.turn().slice, 1ns);
  EXPECT_EQ(player.turn().depth, 1U);
  EXPECT_EQ(player.turn().end, TurnEnd::measured);
  EXPECT_FALSE(player.turn().bounded);
}

// Figure 5 (b): the same tasks under HT.
TEST(TimeGraphPolicy, Figure5bUnderHtTheSameTaskGoesOnAtOnceUntilAHigherPriorityWaits) {
  TaskPlayer player;
  player.add_runnable(kMedium, ht_task(50));
  const Turn turn = player.turn();
  EXPECT_EQ(turn.slice, 6ms);
  EXPECT_EQ(turn.depth, 0U);
  EXPECT_FALSE(turn.bounded);
  player.begin(kMedium);
  player.add_runnable(kLow, ht_task(10));
  EXPECT_FALSE(player.policy.preempts(kLow, kMedium, player.now));
  EXPECT_FALSE(player.policy.must_yield(kMedium, player.now));
  player.add_runnable(kHigh, ht_task(90));
  EXPECT_EQ(player.policy.preempts(kHigh, kMedium, player.now), player.now);
  EXPECT_TRUE(player.policy.must_yield(kMedium, player.now));
  player.end(kMedium, 4ms);  // both of its commands, in flight when the high task came
  EXPECT_EQ(player.run(4ms), kHigh);
  player.policy.block(kHigh, player.now);
  EXPECT_EQ(player.next(), kMedium);
}

TEST(TimeGraphPolicy, AnHtTaskDoesNotYieldToAnEqualOneDuringItsSliceAndLetsItGoAfterwards) {
  TaskPlayer player;
  player.add_runnable(kA, ht_task(50));
  player.begin(kA);
  player.add_runnable(kB, ht_task(50));
  EXPECT_FALSE(player.policy.preempts(kB, kA, player.now));
  EXPECT_FALSE(player.policy.must_yield(kA, player.now));
  player.end(kA, 6ms);
  EXPECT_EQ(player.next(), kB);
}

TEST(TimeGraphPolicy, EqualPrioritiesGoInTheOrderInWhichTheyArrived) {
  TaskPlayer player;
  for (const TenantId id : {kB, kC, kA}) player.add_runnable(id, task(50));
  for (const TenantId id : {kB, kC, kA, kB}) EXPECT_EQ(player.run(1ms), id);
}

TEST(TimeGraphPolicy, ATenantWithoutASpecificationGoesLastAndSharesBackground) {
  TaskPlayer player;
  player.add_runnable(kA, {});
  player.add_runnable(kB, task(kLeastStaticPriority));
  EXPECT_TRUE(player.policy.in_background(kA));
  EXPECT_EQ(player.run(1ms), kB);
  player.policy.block(kB, player.now);
  EXPECT_EQ(player.run(1ms), kA);
}

TEST(TimeGraphPolicy, TheTaskInTheForegroundGoesBeforeTheOtherAutomaticOnesOnly) {
  TaskPlayer player;
  player.add_runnable(kA, automatic_task(false));
  player.add_runnable(kB, automatic_task(true));
  player.add_runnable(kC, task(kDefaultPriority + 1));
  player.add_runnable(kLow, task(kDefaultPriority - 1));
  for (const TenantId id : {kC, kB, kA, kLow}) {
    EXPECT_EQ(player.run(1ms), id);
    player.policy.block(id, player.now);
  }
}

TEST(TimeGraphPolicy, TheForegroundMovesWhileTasksWait) {
  TaskPlayer player;
  player.add_runnable(kA, automatic_task(true));
  player.add_runnable(kB, automatic_task(false));
  ASSERT_EQ(player.next(), kA);
  player.policy.set_attributes(kA, automatic_task(false), player.now);
  player.policy.set_attributes(kB, automatic_task(true), player.now);
  EXPECT_EQ(player.next(), kB);
}

TEST(TimeGraphPolicy, PrioritiesMayChangeDuringATurn) {
  TaskPlayer player;
  player.add_runnable(kA, ht_task(50));
  player.begin(kA);
  player.add_runnable(kB, ht_task(40));
  player.policy.set_attributes(kA, ht_task(30), player.now);
  EXPECT_TRUE(player.policy.must_yield(kA, player.now));
  player.end(kA, 1ms);
  EXPECT_EQ(player.next(), kB);
}

// -- restarts and changes of policy

TEST(TimeGraphPolicy, ARestartRefillsNothing) {
  TaskPlayer before;
  before.add_runnable(kA, task(50, {10ms, 40ms}));
  before.run(17ms);
  const TenantBudget budget = before.policy.budget(kA, before.now);
  ASSERT_TRUE(budget.reserve);
  EXPECT_EQ(budget.reserve->left, -7ms);
  TaskPlayer after;
  after.now = before.now + 3ms;
  after.policy.add(kA, task(50, {10ms, 40ms}), after.now);
  after.policy.restore(kA, budget, after.now);
  after.policy.wake(kA, after.now);
  EXPECT_EQ(after.policy.budget(kA, after.now), budget);
  const Decision decision = after.policy.next(after.now);
  EXPECT_FALSE(decision.turn);
  EXPECT_EQ(decision.ask_again, before.now - 17ms + 40ms);
  after.now = *decision.ask_again;
  EXPECT_EQ(after.left(kA), 3ms);
}

TEST(TimeGraphPolicy, TheTasksOfASharedReserveAllBringItsBudget) {
  TaskPlayer before;
  before.add_runnable(kA, task(50, {10ms, 40ms}, Enforcement::posterior, 7));
  before.add_runnable(kB, task(50, {10ms, 40ms}, Enforcement::posterior, 7));
  before.run(4ms);
  TaskPlayer after;
  after.now = before.now;
  for (const TenantId id : {kB, kA}) {
    after.policy.add(id, task(50, {10ms, 40ms}, Enforcement::posterior, 7), after.now);
  }
  for (const TenantId id : {kB, kA})
    after.policy.restore(id, before.policy.budget(id, before.now), after.now);
  EXPECT_EQ(after.left(kA), 6ms);
  EXPECT_EQ(after.left(kB), 6ms);
}

TEST(TimeGraphPolicy, ATaskWithoutAReserveHasNoStateToHandOver) {
  TaskPlayer player;
  player.add_runnable(kA, {});
  EXPECT_TRUE(player.policy.budget(kA, player.now).empty());
  EXPECT_TRUE(player.policy.budget(kC, player.now).empty());
  TenantBudget other;
  other.ahead = 5ms;
  player.policy.restore(kA, other, player.now);
  EXPECT_EQ(player.next(), kA);
}

TEST(TimeGraphPolicy, ATaskThatComesBackFindsTheBudgetThatItLeft) {
  TaskPlayer player;
  player.add_runnable(kA, task(50, {10ms, 40ms}));
  player.run(35ms);
  EXPECT_FALSE(player.policy.may_forget(kA));
  player.policy.remove(kA, player.now);
  player.add_runnable(kA, task(50, {10ms, 40ms}));
  EXPECT_EQ(player.left(kA), -25ms);
  EXPECT_FALSE(player.next());
}

TEST(TimeGraphPolicy, ATaskMayBeForgottenOnceItOwesNothing) {
  TaskPlayer player;
  player.add_runnable(kA, task(50, {10ms, 40ms}));
  player.run(15ms);
  player.policy.block(kA, player.now);
  player.now += 25ms;
  player.policy.rest(25ms, player.now);
  EXPECT_FALSE(player.policy.may_forget(kA));  // 5 of 10 ms
  player.now += 40ms;
  player.policy.rest(40ms, player.now);
  EXPECT_TRUE(player.policy.may_forget(kA));
}

// -- admission control

TEST(TimeGraphPolicy, AReserveThatDoesNotFitBecomesBackgroundAndGoesLast) {
  TaskPlayer player;
  player.policy.set_admission_limit(Share{800'000});
  player.add_runnable(kA, task(10, {6ms, 10ms}));
  player.add_runnable(kB, task(90, {3ms, 10ms}));
  player.add_runnable(kC, task(20, {2ms, 10ms}));
  EXPECT_FALSE(player.policy.in_background(kA));
  EXPECT_TRUE(player.policy.in_background(kB));
  EXPECT_FALSE(player.policy.in_background(kC));
  EXPECT_NEAR(player.policy.promised(), 0.8, 1e-6);
  for (const TenantId id : {kC, kA, kB}) {
    EXPECT_EQ(player.run(1ms), id);
    player.policy.block(id, player.now);
  }
}

TEST(TimeGraphPolicy, ARefusedReserveIsTriedAgainWhenItsAttributesAreSet) {
  TaskPlayer player;
  player.add_runnable(kA, task(10, {9ms, 10ms}));
  player.add_runnable(kB, task(90, {3ms, 10ms}));
  ASSERT_TRUE(player.policy.in_background(kB));
  player.policy.remove(kA, player.now);
  EXPECT_TRUE(player.policy.in_background(kB));
  player.policy.set_attributes(kB, task(90, {3ms, 10ms}), player.now);
  EXPECT_FALSE(player.policy.in_background(kB));
}

TEST(TimeGraphPolicy, AReserveThatTheCallerHasAdmittedDoesNotCount) {
  TaskPlayer player;
  TenantAttributes admitted = task(10, {9ms, 10ms});
  admitted.timegraph.admitted = true;
  player.add_runnable(kA, admitted);
  player.add_runnable(kB, task(90, {3ms, 10ms}));
  EXPECT_FALSE(player.policy.in_background(kA));
  EXPECT_FALSE(player.policy.in_background(kB));
  EXPECT_NEAR(player.policy.promised(), 0.3, 1e-6);
  TenantAttributes another = task(90, {8ms, 10ms});
  another.timegraph.admitted = true;
  player.policy.set_attributes(kB, another, player.now);
  EXPECT_FALSE(player.policy.in_background(kB));
  EXPECT_EQ(player.policy.promised(), 0.0);
}

TEST(TimeGraphPolicy, ATasksOwnCAndTGoBeforeItsGuarantee) {
  TaskPlayer player;
  TenantAttributes attributes = task(10, {9ms, 10ms});
  attributes.timegraph.reserve = Reservation{3ms, 30ms};
  player.add_runnable(kA, attributes);
  EXPECT_EQ(player.left(kA), 3ms);
  attributes.timegraph.reserve = Reservation{};
  player.policy.set_attributes(kA, attributes, player.now);
  EXPECT_TRUE(player.policy.in_background(kA)) << "an empty one is the Background reserve";
}

TEST(TimeGraphPolicy, RefusesWeightsOutOfRangeBeforeItChangesAnything) {
  TaskPlayer player;
  TenantAttributes heavy = task(50);
  heavy.weight = kMaxWeight + 1;
  EXPECT_THROW(player.policy.add(kA, heavy, player.now), std::invalid_argument);
  player.policy.add(kA, task(50), player.now);
  EXPECT_THROW(player.policy.set_attributes(kA, heavy, player.now), std::invalid_argument);
}

}  // namespace
}  // namespace fairgv::sched
