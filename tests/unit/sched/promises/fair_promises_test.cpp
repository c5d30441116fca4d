// The fair policy with promises: guarantees and ceilings beside the weights.
#include "tests/unit/sched/promises/fair_promises.hpp"

namespace fairgv::sched {
namespace {

// -- guarantees

TEST_F(FairPromises, AGuaranteeThatIsDueGoesBeforeTheTagsInTurnsOfItsBudget) {
  add(kA);
  add(kB, guaranteed(2ms, 10ms));
  const Turn turn = next();
  EXPECT_EQ(turn.tenant, kB);
  EXPECT_EQ(turn.slice, 2ms);
  EXPECT_TRUE(turn.promised);
  EXPECT_FALSE(turn.bounded);
  player.run(2ms);
  EXPECT_EQ(static_cast<FairPolicy&>(policy).queue().start_tag(kB), 0) << "its share is of the rest";
  EXPECT_EQ(next().tenant, kA);
  EXPECT_FALSE(next().promised);
  EXPECT_EQ(next().slice, 6ms);
}

TEST_F(FairPromises, ATenantWithAGuaranteeHasItAndItsShareOfTheRest) {
  add(kA);
  add(kB, guaranteed(3ms, 10ms));
  run_for(10s);
  EXPECT_NEAR(player.share(kB), 0.3 + 0.35, 0.005);
}

TEST_F(FairPromises, AfterATimeAloneATenantClaimsNothingForIt) {
  add(kB, guaranteed(5ms, 10ms));
  policy.add(kA, {}, now);
  run_for(10s);
  policy.wake(kA, now);
  const Duration before = player.total[kB];
  run_for(100ms);
  EXPECT_NEAR(used_part(kB, before, 100ms), 0.75, 0.12);
  EXPECT_GE(player.total[kA], 12ms);
}

TEST_F(FairPromises, AnEndlessTurnAloneServesTheGuaranteeThatCameMeanwhile) {
  add(kB);
  begin(kB);
  use(kB, 1s);
  policy.set_attributes(kB, guaranteed(5ms, 10ms), now);
  use(kB, 5s);
  add(kA);
  end(kB);
  EXPECT_EQ(next().tenant, kB) << "it is due now";
  EXPECT_EQ(player.run(5ms), kB);
  EXPECT_EQ(next().tenant, kA) << "and has no more to catch up on";
}

TEST_F(FairPromises, AMomentAlonePaysNoMoreOfAGuaranteeThanItWas) {
  add(kA);
  add(kB, guaranteed(5ms, 10ms));
  ASSERT_EQ(player.run(5ms), kB);
  ASSERT_EQ(player.run(1s), kA) << "a kernel that cannot be cut";
  policy.block(kA, now);
  ASSERT_EQ(player.run(1ms), kB);
  policy.wake(kA, now);
  const Duration before = player.total[kB];
  for (int i = 0; i < 1'000 && next().tenant == kB && next().promised; ++i) player.run(next().slice);
  EXPECT_NEAR(used_part(kB, before, 1s), 1 - 0.01, 0.02) << "it catches up on the rest";
}

TEST_F(FairPromises, WhatATenantIsOwedWhileOthersHaveTheDeviceIsNotTimeAlone) {
  add(kA, guaranteed(5ms, 10ms));
  begin(kA);
  add(kB);
  end(kA);
  const Time owed_from = *policy.budget(kA, now).guaranteed_until;
  begin(kB);
  use(kB, 1s);
  add(kC);
  EXPECT_EQ(policy.budget(kA, now).guaranteed_until, owed_from);
}

TEST_F(FairPromises, BatchTenantsAmongThemselvesHaveTheirGuarantees) {
  add(kA, kBatch);
  add(kB, guaranteed(5ms, 10ms, kBatch));
  run_for(5s);
  EXPECT_NEAR(player.share(kB), 0.75, 0.01);
}

TEST_F(FairPromises, AGuaranteeOfALoneTenantChangesNothingInItsTurns) {
  add(kA, guaranteed(1ms, 10ms));
  EXPECT_FALSE(next().promised);
  EXPECT_FALSE(next().bounded);
  EXPECT_EQ(next().slice, 6ms);
}

TEST_F(FairPromises, AnOverrunOfAPromisedTurnIsPaidByTheGuaranteeNotByTheTag) {
  add(kA);
  add(kB, guaranteed(2ms, 10ms));
  ASSERT_EQ(player.run(20ms), kB);
  EXPECT_EQ(static_cast<FairPolicy&>(policy).queue().start_tag(kB), 0);
  for (const Time due = now + 80ms; now < due;) {
    EXPECT_FALSE(next().promised);
    player.run(1ms);
  }
  EXPECT_TRUE(next().promised);
}

TEST_F(FairPromises, ATenantRemovedInAPromisedTurnLeavesNothingToItsNamesake) {
  add(kA);
  add(kB, guaranteed(2ms, 10ms));
  begin(kB);
  policy.remove(kB, now);
  policy.add(kB, guaranteed(2ms, 10ms), now);
  policy.wake(kB, now);
  use(kB, 2ms);
  end(kB);
  EXPECT_EQ(static_cast<FairPolicy&>(policy).queue().start_tag(kB), 2e6) << "no turn of its own was promised";
}

// -- ceilings

TEST_F(FairPromises, ACeilingEndsTurnsEvenOfALoneTenant) {
  add(kA, capped(100'000));
  EXPECT_TRUE(next().bounded);
  EXPECT_EQ(next().slice, 6ms);
  player.run(8ms);
  EXPECT_LT(next().slice, 6ms) << "no more than what is left";
}

TEST_F(FairPromises, WhileAllAreHeldBackThePolicySaysWhenToAskAgain) {
  add(kA, capped(100'000));
  add(kB, capped(100'000));
  begin(kA);
  use(kA, 40ms);
  end(kA);
  begin(kB);
  use(kB, 50ms);
  end(kB);
  const Decision decision = policy.next(now);
  EXPECT_FALSE(decision.turn);
  ASSERT_TRUE(decision.ask_again);
  now = *decision.ask_again - 1ns;
  EXPECT_FALSE(policy.next(now).turn);
  now += 1ns;
  EXPECT_EQ(next().tenant, kA);
  EXPECT_EQ(next().slice, 1ms) << "a tenth of 100 ms of its pace";
}

TEST_F(FairPromises, NobodyGetsMoreThanItsCeilingAndTheRestGoesToTheOthers) {
  add(kA, capped(200'000, {.weight = 10}));
  add(kB);
  run_for(10s);
  EXPECT_NEAR(player.share(kA), 0.2, 0.01);
  EXPECT_NEAR(player.share(kB), 0.8, 0.01);
}

TEST_F(FairPromises, ATenantThatIsHeldBackMayBlockWakeAndBeRemoved) {
  add(kA, capped(100'000));
  add(kB);
  begin(kA);
  use(kA, 60ms);
  end(kA);
  EXPECT_EQ(next().tenant, kB);
  policy.block(kA, now);
  policy.wake(kA, now);
  EXPECT_EQ(next().tenant, kB) << "that does not help";
  policy.remove(kA, now);
  now += 10s;
  EXPECT_EQ(next().tenant, kB);
  policy.remove(kB, now);
  EXPECT_FALSE(policy.next(now).turn);
  EXPECT_FALSE(policy.next(now).ask_again);
}

TEST_F(FairPromises, ACeilingThatIsRaisedOrRemovedReleasesATenantAtOnce) {
  for (const TenantAttributes& later_on : {capped(990'000), TenantAttributes{}, kBatch, kLatency}) {
    PolicyPlayer other{"fair", 6ms};
    other.policy->add(kA, capped(100'000), other.now);
    other.policy->wake(kA, other.now);
    other.run(12ms);
    EXPECT_FALSE(other.policy->next(other.now).turn);
    other.policy->set_attributes(kA, later_on, other.now);
    other.now += 2ms;
    EXPECT_EQ(other.next(), kA);
  }
}

TEST_F(FairPromises, AnEndlessTurnIsAskedForWhenItsTenantGetsACeiling) {
  add(kA);
  EXPECT_FALSE(next().bounded);
  begin(kA);
  EXPECT_EQ(policy.review_at(kA, now), std::nullopt);
  EXPECT_FALSE(policy.must_yield(kA, now));
  policy.set_attributes(kA, capped(100'000), now);
  EXPECT_EQ(policy.review_at(kA, now), now);
  EXPECT_TRUE(policy.must_yield(kA, now));
  EXPECT_EQ(policy.review_at(kA, now), std::nullopt) << "once is enough";
  EXPECT_TRUE(policy.must_yield(kA, now));
  EXPECT_FALSE(policy.must_yield(kB, now));
  end(kA);
  EXPECT_TRUE(next().bounded);
  begin(kA);
  EXPECT_FALSE(policy.must_yield(kA, now));
  EXPECT_EQ(policy.review_at(kA, now), std::nullopt);
}

TEST_F(FairPromises, ATenantThatIsHeldBackKeepsItsClassWhenItChanges) {
  add(kA, capped(100'000));
  add(kB);
  begin(kA);
  use(kA, 60ms);
  end(kA);
  policy.set_attributes(kA, capped(100'000, kLatency), now);
  EXPECT_EQ(next().tenant, kB) << "it is held back still";
  policy.set_attributes(kA, capped(100'000, kBatch), now);
  EXPECT_EQ(next().tenant, kB);
  EXPECT_FALSE(policy.preempts(kA, kB, now));
  now += 1s;
  EXPECT_EQ(next().tenant, kA) << "the floor of its new class";
  EXPECT_EQ(next().slice, 5ms);
}

}  // namespace
}  // namespace fairgv::sched
