// The fair policy with promises: latency and batch tenants, and pauses beside promises.
#include "tests/unit/sched/promises/fair_promises.hpp"

namespace fairgv::sched {
namespace {

// -- the latency class

TEST_F(FairPromises, ALatencyTenantGoesFirstWhateverItsTurnsAreLike) {
  add(kA);
  add(kB, guaranteed(5ms, 10ms));
  policy.add(kC, kLatency, now);
  for (int i = 0; i < 3; ++i) player.run(6ms);
  policy.wake(kC, now);
  EXPECT_EQ(next().tenant, kC) << "before a guarantee that is due";
  player.run(6ms);
  EXPECT_NE(next().tenant, kC) << "until its turn";
}

TEST_F(FairPromises, ALatencyTenantGoesFirstOnlyWithinASliceOfTheHighestVirtualTime) {
  for (const Duration used : {Duration(6ms), Duration(6ms + 1us)}) {
    PolicyPlayer other{"fair", 6ms};
    other.policy->add(kC, kLatency, other.now);
    other.policy->add(kA, {}, other.now);
    other.policy->charge(kC, used, other.now);
    other.policy->wake(kA, other.now);
    other.policy->begin(kA, other.now);
    other.policy->wake(kC, other.now);
    EXPECT_EQ(other.next() == kC, used == 6ms);
    EXPECT_EQ(other.policy->preempts(kC, kA, other.now).has_value(), used == 6ms);
  }
}

TEST_F(FairPromises, ALatencyTenantPreemptsOtherClassesAtOnceButNotItsOwn) {
  add(kA);
  add(kB, kLatency);
  policy.add(kC, kLatency, now);
  begin(kA);
  policy.wake(kC, now += 10us);
  EXPECT_FALSE(policy.preempts(kC, kA, now)) << "B woke before and is next";
  policy.block(kB, now);
  EXPECT_EQ(policy.preempts(kC, kA, now), now);
  use(kA, 1ms);
  end(kA);
  begin(kC);
  policy.wake(kB, now += 10us);
  EXPECT_NE(policy.preempts(kB, kC, now), now) << "a latency tenant has its turn";
}

TEST_F(FairPromises, ATenantThatBecomesALatencyTenantInItsTurnHasNoSecondOne) {
  add(kA);
  add(kB, guaranteed(2ms, 10ms, kBatch));
  ASSERT_EQ(player.run(5ms), kB) << "the floor";
  ASSERT_TRUE(next().promised);
  begin(kB);
  policy.set_attributes(kB, guaranteed(2ms, 10ms, kLatency), now);
  use(kB, 2ms);
  end(kB);
  EXPECT_EQ(next().tenant, kA);
}

TEST_F(FairPromises, OthersKeepLittleInFlightOnlyWhileALatencyTenantIsAbout) {
  add(kA);
  policy.add(kC, kLatency, now);
  EXPECT_EQ(next().in_flight, 0ns) << "it has not woken";
  policy.wake(kC, now);
  EXPECT_EQ(next().tenant, kC);
  EXPECT_EQ(next().in_flight, 0ns) << "its own turn";
  policy.block(kC, now);
  EXPECT_EQ(next().in_flight, FairPolicy::kLeastInFlight);
  now += FairPolicy::kLatencyMemory;
  EXPECT_EQ(next().in_flight, FairPolicy::kLeastInFlight);
  now += 1ns;
  EXPECT_EQ(next().in_flight, 0ns);
}

TEST_F(FairPromises, TheShortestWantedResponseBoundsWhatIsInFlight) {
  add(kA);
  policy.add(kB, {.service = ServiceClass::latency, .response = 20ms}, now);
  policy.add(kC, {.service = ServiceClass::latency, .response = 8ms}, now);
  const auto in_flight = [&] { return next().in_flight; };
  policy.wake(kB, now);
  policy.block(kB, now);
  EXPECT_EQ(in_flight(), 5ms);
  policy.wake(kC, now);
  policy.block(kC, now);
  EXPECT_EQ(in_flight(), 2ms);
  policy.wake(kB, now += 9s);
  policy.block(kB, now);
  EXPECT_EQ(in_flight(), 2ms) << "the shortest of those about";
  policy.wake(kB, now += 11s);
  policy.block(kB, now);
  EXPECT_EQ(in_flight(), 5ms) << "C is gone";
}

// -- the batch class

TEST_F(FairPromises, BatchTenantsHaveWhatTheOthersLeaveAndTheirFloor) {
  add(kA);
  add(kB, kBatch);
  run_for(10s);
  EXPECT_NEAR(player.share(kB), 0.05, 0.003);
  policy.block(kA, now);
  EXPECT_EQ(next().tenant, kB);
  EXPECT_EQ(next().slice, 6ms);
  EXPECT_FALSE(next().promised);
}

TEST_F(FairPromises, TheFloorIsSharedByTheTagsOfTheBatchTenants) {
  add(kA);
  add(kB, {.weight = 1, .service = ServiceClass::batch});
  add(kC, {.weight = 3, .service = ServiceClass::batch});
  run_for(40s);
  EXPECT_NEAR(player.share(kB), 0.0125, 0.002);
  EXPECT_NEAR(player.share(kC), 0.0375, 0.003);
}

TEST_F(FairPromises, BatchGivesTheDeviceUpAsSoonAsAnotherWakesHoweverLongItHadIt) {
  add(kB, kBatch);
  add(kC, kBatch);
  policy.add(kA, {}, now);
  run_for(10s);
  const TenantId holder = next().tenant;
  begin(holder);
  use(holder, 1ms);
  policy.wake(kA, now);
  EXPECT_EQ(policy.preempts(kA, holder, now), now);
  end(holder);
  const Duration before = player.total[kA];
  run_for(90ms);
  EXPECT_GE(player.total[kA] - before, 90ms) << "and has had its floor for 100 ms";
}

TEST_F(FairPromises, ATurnForTheFloorIsNotGivenUp) {
  add(kA);
  add(kB, kBatch);
  policy.add(kC, {}, now);
  ASSERT_EQ(next().tenant, kB);
  begin(kB);
  policy.wake(kC, now);
  EXPECT_FALSE(policy.preempts(kC, kB, now));
}

TEST_F(FairPromises, ATurnForTheFloorIsAskedForNoSoonerThanOthers) {
  add(kA);
  add(kB, kBatch);
  policy.add(kC, {}, now);
  begin(kA);  // uses up its lead
  end(kA);
  begin(kB);
  const Time began = now;
  use(kB, 5'300us);
  policy.wake(kC, now);
  EXPECT_EQ(next().tenant, kC) << "the floor has been served";
  EXPECT_EQ(policy.preempts(kC, kB, now), began + 1'500us);
}

TEST_F(FairPromises, BatchTenantsDoNotPreemptOneAnother) {
  add(kB, kBatch);
  policy.add(kC, kBatch, now);
  player.run(6ms);
  begin(kB);
  use(kB, 1ms);
  policy.wake(kC, now);
  EXPECT_EQ(policy.preempts(kC, kB, now), now + 500us) << "but for its lead";
}

TEST_F(FairPromises, AChangeOfClassTakesTheDebtAlong) {
  add(kA, kBatch);
  add(kB);
  add(kC);
  player.policy->charge(kB, 1s, now);
  policy.set_attributes(kB, kBatch, now);
  EXPECT_EQ(next().tenant, kA) << "the floor: B owes a second";
  player.run(5ms);
  policy.set_attributes(kB, {}, now);
  for (const Time until = now + 900ms; now < until;) EXPECT_NE(player.run(5ms), kB);
}

// -- pauses

TEST_F(FairPromises, ThePauseOfATenantKeepsTheDeviceNoLongerThanUntilAGuaranteeIsDue) {
  add(kA);
  add(kB, guaranteed(1ms, 10ms, {.weight = 1}));
  ASSERT_EQ(player.run(1ms), kB);
  now += 8'500us;
  const auto kept = player.run_and_pause(1ms);  // at 10.5 ms: B's guarantee was due at 10
  EXPECT_EQ(kept, std::nullopt) << "B is next";
}

TEST_F(FairPromises, AKeptDeviceIsFreeWhenTheNextGuaranteeIsDue) {
  add(kA, {.weight = 100});
  add(kB, guaranteed(1ms, 10ms));
  ASSERT_EQ(player.run(1ms), kB);
  ASSERT_EQ(player.run(6ms), kA);  // tags: 60 us of A, 0 of B
  ASSERT_EQ(player.run(1ms), kB);  // by its tag
  const Time due = now + 2ms;
  ASSERT_EQ(next().tenant, kA);
  now += 1'700us;
  const auto kept = player.run_and_pause(200us);
  EXPECT_EQ(kept, due);
}

TEST_F(FairPromises, TheDeviceIsNotKeptForTheStakeOfALatencyTenant) {
  add(kA);
  add(kB, kLatency);
  ASSERT_EQ(player.run(1ms), kB);
  ASSERT_EQ(player.run(1s), kA) << "a kernel that cannot be cut";
  ASSERT_EQ(next().tenant, kB);
  const auto kept = player.run_and_pause(100ms);
  EXPECT_EQ(kept, now + FairPolicy::kLongestAnticipation) << "it goes first when it comes back";
}

}  // namespace
}  // namespace fairgv::sched
