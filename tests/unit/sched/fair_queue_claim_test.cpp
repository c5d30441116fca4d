// Debt, rest, credit and lead in a fair queue: the debt or claim of a tenant that comes back.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/sched/fair_queue_tenants.hpp"

namespace fairgv::sched {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(FairQueue, ABlockedTenantAccumulatesNoClaim) {
  FairQueue queue;
  add_runnable(queue, kA);
  queue.add(kB);
  for (int turn = 0; turn < 1000; ++turn) queue.charge(kA, milliseconds(6));
  queue.wake(kB);
  EXPECT_EQ(queue.start_tag(kB), queue.virtual_time());

  // From here on they alternate: B has no past to catch up on.
  int turns_of_b = 0;
  for (int turn = 0; turn < 10; ++turn) {
    turns_of_b += queue.pick() == kB ? 1 : 0;
    queue.charge(*queue.pick(), milliseconds(6));
  }
  EXPECT_EQ(turns_of_b, 5);
}

TEST(FairQueue, AnOverrunIsPaidBackByWaiting) {
  FairQueue queue;
  add_runnable(queue, kA);
  add_runnable(queue, kB);
  queue.charge(kA, milliseconds(600));  // a hundred slices in one
  for (int turn = 0; turn < 100; ++turn) {
    ASSERT_EQ(queue.pick(), kB);
    queue.charge(kB, milliseconds(6));
  }
  EXPECT_EQ(queue.pick(), kA);
}

TEST(FairQueue, SleepingDoesNotShedDebt) {
  FairQueue queue;
  add_runnable(queue, kA);
  add_runnable(queue, kB);
  queue.charge(kA, milliseconds(600));
  queue.block(kA);
  queue.charge(kB, milliseconds(6));
  queue.wake(kA);
  EXPECT_EQ(queue.start_tag(kA), 600 * kMillisecond);
  EXPECT_EQ(queue.pick(), kB);
}

TEST(FairQueue, DebtOutlivesATimeInWhichNoTenantRuns) {
  FairQueue queue;
  add_runnable(queue, kA);
  add_runnable(queue, kB);
  queue.charge(kA, milliseconds(600));
  queue.block(kA);
  queue.charge(kB, milliseconds(6));
  queue.block(kB);
  queue.wake(kA);
  queue.wake(kB);
  EXPECT_EQ(queue.pick(), kA);  // alone when it woke, so virtual time is its own...
  EXPECT_EQ(queue.start_tag(kA), 600 * kMillisecond);
  EXPECT_EQ(queue.start_tag(kB), 600 * kMillisecond);  // ...and B has no claim on the time it slept
}

TEST(FairQueue, ARestOfTheDeviceForgivesDebtAsIfAllTenantsHadSharedIt) {
  FairQueue queue;
  add_runnable(queue, kA, 1);
  add_runnable(queue, kB, 3);
  queue.charge(kA, milliseconds(600));
  queue.block(kA);
  queue.block(kB);
  queue.rest(milliseconds(400));
  EXPECT_EQ(queue.virtual_time(), 100 * kMillisecond);
  queue.wake(kB);
  EXPECT_EQ(queue.start_tag(kB), 100 * kMillisecond) << "nobody has a claim on free time";
  queue.wake(kA);
  EXPECT_EQ(queue.start_tag(kA), 600 * kMillisecond) << "A still owes";
  queue.block(kA);
  queue.block(kB);
  queue.rest(std::chrono::hours(1));
  queue.wake(kB);
  queue.wake(kA);
  EXPECT_EQ(queue.start_tag(kA), queue.start_tag(kB));
}

TEST(FairQueue, ARestDuringALoneTurnForgivesDebtToo) {
  FairQueue queue;
  add_runnable(queue, kA);
  add_runnable(queue, kB);
  queue.charge(kA, milliseconds(600));
  queue.block(kA);
  queue.rest(milliseconds(2'000));
  EXPECT_EQ(queue.start_tag(kB), 1'000 * kMillisecond);
  queue.wake(kA);
  EXPECT_EQ(queue.start_tag(kA), 1'000 * kMillisecond);
  queue.rest(milliseconds(2'000));
  EXPECT_EQ(queue.virtual_time(), 1'000 * kMillisecond) << "it does not rest while two want it";
}

TEST(FairQueue, ALateChargeDoesNotTakeBackARest) {
  FairQueue queue;
  add_runnable(queue, kA);
  queue.block(kA);
  queue.rest(milliseconds(100));
  queue.charge(kA, milliseconds(10));
  EXPECT_EQ(queue.virtual_time(), 100 * kMillisecond);
  queue.rest(std::chrono::nanoseconds::max());
  queue.rest(std::chrono::nanoseconds::max());
  queue.rest(std::chrono::nanoseconds::max());
  queue.wake(kA);
  queue.rest(-milliseconds(1));
  EXPECT_GT(queue.virtual_time(), 1e18) << "tags saturate, they do not wrap";
}

TEST(FairQueue, ARestIsSharedByTheWeightsOfTheTenantsThatAreThere) {
  FairQueue queue;
  queue.add(kA, 1);
  queue.add(kB, 5);
  queue.set_weight(kA, 2);
  queue.remove(kB);
  queue.rest(milliseconds(100));
  EXPECT_EQ(queue.virtual_time(), 50 * kMillisecond);
}

// Leaving the queue for a moment must not pay, in whichever order the reports at the end of a turn come.
TEST(FairQueue, BlockingAndWakingAfterEveryTurnGainsNothing) {
  for (const bool charged_before_blocking : {true, false}) {
    FairQueue queue;
    add_runnable(queue, kA);
    add_runnable(queue, kB);
    Duration time_of_a{0};
    Duration time_of_b{0};
    for (int turn = 0; turn < 1000; ++turn) {
      const TenantId next = *queue.pick();
      (next == kA ? time_of_a : time_of_b) += milliseconds(6);
      if (next == kA && charged_before_blocking) {
        queue.charge(kA, milliseconds(6));
        queue.block(kA);
        queue.wake(kA);
      } else if (next == kA) {
        queue.block(kA);
        queue.charge(kA, milliseconds(6));
        queue.wake(kA);
      } else {
        queue.charge(kB, milliseconds(6));
      }
    }
    EXPECT_EQ(time_of_a, time_of_b) << "charged before blocking: " << charged_before_blocking;
  }
}

TEST(FairQueue, AShortPauseWithCreditKeepsWhatIsOwed) {
  FairQueue queue;
  add_runnable(queue, kA, 1);
  add_runnable(queue, kB, 3);
  queue.charge(kA, milliseconds(6));
  queue.charge(kB, milliseconds(6));
  queue.block(kB);                  // its program reads a result ...
  queue.wake(kB, milliseconds(6));  // ... and comes back at once
  EXPECT_EQ(queue.start_tag(kB), 2 * kMillisecond);
  EXPECT_EQ(queue.pick(), kB);
}

TEST(FairQueue, ASleeperIsBehindVirtualTimeByAtMostItsCredit) {
  FairQueue queue;
  add_runnable(queue, kA);
  add_runnable(queue, kB);
  for (int round = 0; round < 100; ++round) {
    queue.block(kB);
    queue.charge(kA, milliseconds(10));
    queue.wake(kB, milliseconds(6));
    EXPECT_EQ(queue.start_tag(kB), queue.start_tag(kA) - 6 * kMillisecond);
  }
  queue.block(kB);
  queue.wake(kB);
  EXPECT_EQ(queue.start_tag(kB), queue.start_tag(kA)) << "without credit it starts at virtual time";
}

TEST(FairQueue, ALeadPutsATenantBeforeThoseWhoseTagsAreSmallerByLess) {
  FairQueue queue;
  add_runnable(queue, kA);
  add_runnable(queue, kB);
  queue.charge(kA, milliseconds(6));
  queue.charge(kB, milliseconds(6));
  queue.add(kC);
  queue.charge(kC, milliseconds(1));
  queue.wake(kC, {}, milliseconds(2));
  EXPECT_EQ(queue.start_tag(kC), 7 * kMillisecond);
  EXPECT_EQ(queue.virtual_time(), 6 * kMillisecond) << "its tag is as without";
  EXPECT_EQ(queue.pick(), kC);
  queue.charge(kC, milliseconds(1));
  EXPECT_EQ(queue.pick(), kA) << "it had its lead";
  queue.block(kC);
  queue.charge(kC, nanoseconds(1));
  queue.wake(kC, {}, milliseconds(2));
  EXPECT_EQ(queue.pick(), kA) << "it is ahead by more than the lead";
}

TEST(FairQueue, ALeadPutsATenantBeforeEqualTagsThatCameEarlier) {
  FairQueue queue;
  add_runnable(queue, kA);
  add_runnable(queue, kB);
  queue.charge(kA, milliseconds(3));  // so far: B is first
  queue.add(kC);
  queue.wake(kC, {}, nanoseconds(1));
  ASSERT_EQ(queue.start_tag(kC), queue.start_tag(kB));
  EXPECT_EQ(queue.pick(), kC);
}

TEST(FairQueue, ALeadCountsByWeight) {
  FairQueue queue;
  add_runnable(queue, kA);
  queue.add(kB, 4);
  queue.charge(kB, milliseconds(8));
  queue.wake(kB, {}, milliseconds(7));
  EXPECT_EQ(queue.pick(), kA);
  queue.block(kB);
  queue.wake(kB, {}, milliseconds(8));
  EXPECT_EQ(queue.pick(), kB);
}

TEST(FairQueue, ALeadEndsWhenATurnBeginsAndWhenTheTenantIsRemoved) {
  FairQueue queue;
  add_runnable(queue, kA);
  const auto lead = [&] {
    queue.add(kB);
    queue.charge(kB, milliseconds(1));
    queue.wake(kB, {}, milliseconds(2));
  };
  lead();
  ASSERT_EQ(queue.pick(), kB);
  queue.spend_lead(kB);
  EXPECT_EQ(queue.pick(), kA) << "though nothing was charged";
  queue.spend_lead(kC);  // unknown
  queue.remove(kB);
  lead();
  queue.block(kB);
  EXPECT_EQ(queue.pick(), kA);
  queue.remove(kB);
  lead();
  queue.remove(kB);
  EXPECT_EQ(queue.pick(), kA);
}

}  // namespace
}  // namespace fairgv::sched
