// Start-time fair queuing, one rule per test: tags, virtual time, order, and tenants that come and go.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tests/unit/sched/fair_queue_tenants.hpp"

namespace fairgv::sched {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// FairGV, figure 4: weights 1 and 2, slices of 10 ms. Tenant 1 blocks at 70 and is runnable again at 105.
TEST(FairQueue, FollowsTheWorkedExampleOfFigureFour) {
  FairQueue queue;
  add_runnable(queue, kA, 1);
  add_runnable(queue, kB, 2);

  struct Turn {
    TenantId runs;
    double a_after, b_after, virtual_after;  // in ms
  };
  const std::vector<Turn> until_70 = {
      {kA, 10, 0, 0},    // 0..10
      {kB, 10, 5, 5},    // 10..20
      {kB, 10, 10, 10},  // 20..30
      {kA, 20, 10, 10},  // 30..40: equal tags, A was charged first
      {kB, 20, 15, 15},  // 40..50
      {kB, 20, 20, 20},  // 50..60
      {kA, 30, 20, 20},  // 60..70
  };
  const std::vector<Turn> until_100 = {
      {kB, 30, 25, 25},  // 70..80
      {kB, 30, 30, 30},  // 80..90
      {kB, 30, 35, 35},  // 90..100
  };
  const auto expect_turn = [&queue](const Turn& turn) {
    ASSERT_EQ(queue.pick(), turn.runs);
    queue.charge(turn.runs, milliseconds(10));
    EXPECT_EQ(queue.start_tag(kA), turn.a_after * kMillisecond);
    EXPECT_EQ(queue.start_tag(kB), turn.b_after * kMillisecond);
    EXPECT_EQ(queue.virtual_time(), turn.virtual_after * kMillisecond);
  };
  for (const Turn& turn : until_70) expect_turn(turn);
  queue.block(kA);
  for (const Turn& turn : until_100) expect_turn(turn);

  ASSERT_EQ(queue.pick(), kB);  // runs from 100 to 110; at 105 tenant 1 wakes
  queue.wake(kA);
  EXPECT_EQ(queue.start_tag(kA), 35 * kMillisecond);
  queue.charge(kB, milliseconds(10));
  EXPECT_EQ(queue.start_tag(kB), 40 * kMillisecond);
  EXPECT_EQ(queue.virtual_time(), 35 * kMillisecond);
  EXPECT_EQ(queue.pick(), kA);
}

TEST(FairQueue, PicksNoTenantWhenNoneIsRunnable) {
  FairQueue queue;
  EXPECT_EQ(queue.pick(), std::nullopt);
  queue.add(kA);
  EXPECT_EQ(queue.pick(), std::nullopt);
  queue.wake(kA);
  EXPECT_EQ(queue.pick(), kA);
  queue.block(kA);
  EXPECT_EQ(queue.pick(), std::nullopt);
}

TEST(FairQueue, EqualTagsRunInTheOrderInWhichTheyBecameRunnable) {
  FairQueue queue;
  for (TenantId id : {kC, kA, kB}) add_runnable(queue, id);
  for (TenantId id : {kC, kA, kB, kC, kA, kB}) {
    ASSERT_EQ(queue.pick(), id);
    queue.charge(id, milliseconds(6));
  }
}

TEST(FairQueue, WakingTwiceKeepsThePlaceInTheQueue) {
  FairQueue queue;
  add_runnable(queue, kA);
  add_runnable(queue, kB);
  queue.wake(kA);
  EXPECT_EQ(queue.pick(), kA);
  EXPECT_EQ(queue.runnable_count(), 2U);
}

TEST(FairQueue, VirtualTimeRestsAtTheLastFinishTagWhileNoTenantRuns) {
  FairQueue queue;
  add_runnable(queue, kA, 2);
  queue.charge(kA, milliseconds(20));
  queue.block(kA);
  EXPECT_EQ(queue.virtual_time(), 10 * kMillisecond);
  queue.add(kB);
  EXPECT_EQ(queue.start_tag(kB), 10 * kMillisecond);
}

TEST(FairQueue, ALastTurnPaidAfterBlockingStillMovesVirtualTime) {
  FairQueue queue;
  add_runnable(queue, kA);
  queue.add(kB);
  queue.block(kA);
  EXPECT_EQ(queue.virtual_time(), 0);
  queue.charge(kA, milliseconds(6));
  EXPECT_EQ(queue.virtual_time(), 6 * kMillisecond);
  queue.wake(kB);
  EXPECT_EQ(queue.start_tag(kB), 6 * kMillisecond);
}

TEST(FairQueue, ABlockedTenantIsChargedWithoutMovingVirtualTimeOfOthers) {
  FairQueue queue;
  add_runnable(queue, kA);
  add_runnable(queue, kB);
  queue.block(kA);
  queue.charge(kA, milliseconds(6));
  EXPECT_EQ(queue.start_tag(kA), 6 * kMillisecond);
  EXPECT_EQ(queue.virtual_time(), 0);
  EXPECT_FALSE(queue.runnable(kA));
}

TEST(FairQueue, ANewWeightHoldsForTheChargesThatFollow) {
  FairQueue queue;
  add_runnable(queue, kA, 1);
  ASSERT_EQ(queue.pick(), kA);
  queue.charge(kA, milliseconds(3));
  queue.set_weight(kA, 3);
  EXPECT_EQ(queue.weight(kA), 3U);
  EXPECT_EQ(queue.start_tag(kA), 3 * kMillisecond);
  queue.charge(kA, milliseconds(3));
  EXPECT_EQ(queue.start_tag(kA), 4 * kMillisecond);
}

TEST(FairQueue, RoundingDoesNotAddUp) {
  for (const std::uint32_t weight : {3U, 7U, 9973U, kMaxWeight}) {
    FairQueue queue;
    add_runnable(queue, kA, weight);
    add_runnable(queue, kB, weight);
    for (std::uint32_t i = 0; i < 10 * weight; ++i)
      queue.charge(kA, nanoseconds(1));  // each far below one tag unit
    queue.charge(kB, nanoseconds(10 * weight));
    EXPECT_EQ(queue.start_tag(kA), 10.0);
    EXPECT_EQ(queue.start_tag(kB), 10.0);
  }
}

TEST(FairQueue, RemovingTheRunningTenantLetsTheNextOneRunAndDropsItsLateReport) {
  FairQueue queue;
  for (TenantId id : {kA, kB, kC}) add_runnable(queue, id);
  queue.charge(kB, milliseconds(2));
  queue.charge(kC, milliseconds(1));
  ASSERT_EQ(queue.pick(), kA);
  queue.remove(kA);
  queue.charge(kA, milliseconds(6));
  EXPECT_FALSE(queue.contains(kA));
  EXPECT_EQ(queue.runnable_count(), 2U);
  EXPECT_EQ(queue.virtual_time(), 1 * kMillisecond);
  EXPECT_EQ(queue.pick(), kC);
}

TEST(FairQueue, RemovingTheOnlyTenantKeepsVirtualTimeAndASuccessorStartsThere) {
  FairQueue queue;
  add_runnable(queue, kA);
  queue.charge(kA, milliseconds(6));
  queue.remove(kA);
  EXPECT_EQ(queue.pick(), std::nullopt);
  EXPECT_EQ(queue.virtual_time(), 6 * kMillisecond);
  add_runnable(queue, kB);  // takes over the freed place
  queue.charge(kB, milliseconds(6));
  EXPECT_EQ(queue.start_tag(kB), 12 * kMillisecond);
}

TEST(FairQueue, ChargesOfABlockedSuccessorDoNotMoveVirtualTime) {
  FairQueue queue;
  add_runnable(queue, kA);
  queue.charge(kA, milliseconds(6));
  queue.remove(kA);
  queue.add(kB);
  queue.charge(kB, milliseconds(6));
  EXPECT_EQ(queue.start_tag(kB), 12 * kMillisecond);
  EXPECT_EQ(queue.virtual_time(), 6 * kMillisecond);
}

TEST(FairQueue, EventsOfUnknownTenantsChangeNothing) {
  FairQueue queue;
  add_runnable(queue, kA);
  queue.charge(kB, milliseconds(6));
  queue.wake(kB);
  queue.block(kB);
  queue.set_weight(kB, 5);
  queue.remove(kB);
  EXPECT_FALSE(queue.runnable(kB));
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.pick(), kA);
  EXPECT_EQ(queue.virtual_time(), 0);
}

TEST(FairQueue, NegativeTimeIsNoCredit) {
  FairQueue queue;
  add_runnable(queue, kA);
  queue.charge(kA, milliseconds(6));
  queue.charge(kA, milliseconds(-600));
  EXPECT_EQ(queue.start_tag(kA), 6 * kMillisecond);
}

TEST(FairQueue, HugeChargesSaturateInsteadOfWrappingToTheFront) {
  FairQueue queue;
  add_runnable(queue, kA);
  add_runnable(queue, kB);
  double before = 0;
  for (int i = 0; i < 8; ++i) {
    queue.charge(kA, Duration::max());
    EXPECT_GE(queue.start_tag(kA), before);
    before = queue.start_tag(kA);
    EXPECT_EQ(queue.pick(), kB);
  }
}

TEST(FairQueue, RefusesWeightsOutsideTheRange) {
  FairQueue queue;
  EXPECT_THROW(queue.add(kA, 0), std::invalid_argument);
  EXPECT_THROW(queue.add(kA, kMaxWeight + 1), std::invalid_argument);
  EXPECT_FALSE(queue.contains(kA));
  queue.add(kA, kMaxWeight);
  EXPECT_THROW(queue.set_weight(kA, 0), std::invalid_argument);
  EXPECT_EQ(queue.weight(kA), kMaxWeight);
}

TEST(FairQueue, RefusesTheSameTenantTwice) {
  FairQueue queue;
  queue.add(kA, 2);
  EXPECT_THROW(queue.add(kA, 3), std::invalid_argument);
  EXPECT_EQ(queue.weight(kA), 2U);
}

TEST(FairQueue, TagsOfUnknownTenantsThrow) {
  const FairQueue queue;
  EXPECT_THROW(static_cast<void>(queue.start_tag(kA)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(queue.weight(kA)), std::out_of_range);
}

}  // namespace
}  // namespace fairgv::sched
