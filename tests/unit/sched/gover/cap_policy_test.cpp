// The policy `cap`: algorithms 2 and 3 of gOver, rule by rule.
#include "sched/policies/gover/cap.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/policy_player.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

/// The player's clock begins with a whole second.
struct Cap : testing::Test {
  void add(TenantId id, std::uint32_t percent) {
    player.policy->add(id, capped(percent), player.now);
    player.policy->wake(id, player.now);
  }
  static TenantAttributes capped(std::uint32_t percent) {
    TenantAttributes attributes;
    attributes.max = {percent * 10'000};
    return attributes;
  }
  CapPolicy& policy() { return static_cast<CapPolicy&>(*player.policy); }
  Duration left(TenantId id) { return policy().left(id, player.now); }
  Decision decision() { return policy().next(player.now); }

  PolicyPlayer player{"cap", 1ms};
  const Time begin = player.now;
};

TEST_F(Cap, AStageAllowsItsLengthTimesTheCap) {
  add(kA, 20);
  EXPECT_EQ(left(kA), 20ms);
  player.run(15ms);
  EXPECT_EQ(left(kA), 5ms);
}

TEST_F(Cap, WhatIsLeftOfAStageIsAddedToTheNext) {
  add(kA, 20);
  player.run(15ms);
  player.now = begin + 100ms;
  EXPECT_EQ(left(kA), 25ms);
  player.now = begin + 999ms;
  EXPECT_EQ(left(kA), 185ms);
}

TEST_F(Cap, ANewSecondBeginsWithOneStageWhateverWasLeft) {
  add(kA, 20);
  player.now = begin + 1s;
  EXPECT_EQ(left(kA), 20ms);
}

TEST_F(Cap, AnOverrunIsMadeUpForInTheStagesThatFollow) {
  add(kA, 20);
  player.run(50ms);
  EXPECT_EQ(left(kA), -30ms);
  EXPECT_FALSE(player.next());
  player.now = begin + 100ms;
  EXPECT_EQ(left(kA), -10ms);
  EXPECT_FALSE(player.next());
  player.now = begin + 200ms;
  EXPECT_EQ(left(kA), 10ms);
  EXPECT_EQ(player.next(), kA);
}

TEST_F(Cap, ANewSecondForgetsAnOverrun) {
  add(kA, 20);
  player.now = begin + 900ms;
  player.run(2s);
  player.now = begin + 3s;
  EXPECT_EQ(left(kA), 20ms);
}

TEST_F(Cap, ALoneTenantWithoutTimeLeftWaitsForTheNextStage) {
  add(kA, 20);
  player.run(20ms);
  EXPECT_FALSE(decision().turn);
  EXPECT_EQ(decision().ask_again, begin + 100ms);
  player.now = begin + 100ms;
  EXPECT_EQ(player.next(), kA);
}

TEST_F(Cap, TheStageToAskInIsTheFirstInWhichATenantHasTimeLeft) {
  add(kA, 10);
  add(kB, 20);
  player.run(35ms);
  player.run(35ms);
  EXPECT_EQ(decision().ask_again, begin + 100ms);  // B: 40 ms allowed
  player.now = *decision().ask_again;
  EXPECT_EQ(player.next(), kB);
}

TEST_F(Cap, AWholeSecondOfOverrunEndsWithTheSecond) {
  add(kA, 10);
  player.run(500ms);
  EXPECT_EQ(decision().ask_again, begin + 1s);
}

TEST_F(Cap, ALateChargePutsOffTheStageOfATenantThatWaits) {
  add(kA, 20);
  player.run(20ms);
  policy().charge(kA, 25ms, player.now);
  EXPECT_EQ(decision().ask_again, begin + 200ms);
}

TEST_F(Cap, ATurnIsASliceAndNoLongerThanWhatIsLeft) {
  add(kA, 20);
  EXPECT_EQ(decision().turn->slice, 1ms);
  player.run(19'600us);
  EXPECT_EQ(decision().turn->slice, 400us);
}

TEST_F(Cap, OnlyTheTurnOfACappedTenantIsBoundedThoughItIsAlone) {
  add(kA, 99);
  EXPECT_TRUE(decision().turn->bounded);
  policy().set_attributes(kA, {}, player.now);
  EXPECT_FALSE(decision().turn->bounded);
}

TEST_F(Cap, TenantsWithTimeLeftTakeTurnsAndTheOthersAreSkipped) {
  add(kA, 30);
  add(kB, 10);
  add(kC, 30);
  for (const TenantId expected : {kA, kB, kC, kA}) EXPECT_EQ(player.run(10ms), expected);
  for (const TenantId expected : {kC, kA, kC}) EXPECT_EQ(player.run(10ms), expected);
  EXPECT_FALSE(player.next());
}

TEST_F(Cap, TheTenantThatRanLastGoesOnIfNobodyElseHasTimeLeft) {  // algorithm 3 would name dom0
  add(kA, 50);
  add(kB, 1);
  EXPECT_EQ(player.run(1ms), kA);
  EXPECT_EQ(player.run(1ms), kB);
  EXPECT_EQ(player.run(1ms), kA);
  EXPECT_EQ(player.run(1ms), kA);
}

TEST_F(Cap, WithoutACapATenantTakesWhatTheCappedOnesLeave) {
  add(kA, 20);
  add(kB, 100);
  while (player.now < begin + 10s) player.run(1ms);
  EXPECT_NEAR(player.share(kA), 0.2, 0.001);
  EXPECT_NEAR(player.share(kB), 0.8, 0.001);
}

TEST_F(Cap, TenantsWithoutACapHaveEqualParts) {
  add(kA, 100);
  add(kB, 100);
  player.policy->add(kC, {.weight = 9}, player.now);
  player.policy->wake(kC, player.now);
  for (int turn = 0; turn < 3'000; ++turn) player.run(1ms);
  for (const TenantId id : {kA, kB, kC}) EXPECT_NEAR(player.share(id), 1.0 / 3, 0.001);
}

TEST_F(Cap, ATenantThatWakesWithoutTimeLeftWaitsLikeAnyOther) {
  add(kA, 10);
  player.run(10ms);
  policy().block(kA, player.now);
  policy().wake(kA, player.now);
  EXPECT_EQ(decision().ask_again, begin + 100ms);
}

TEST_F(Cap, AChangedCapHoldsAsIfItHadBeenSoSinceTheSecondBegan) {
  add(kA, 50);
  player.now = begin + 400ms;
  player.run(100ms);  // into the sixth stage
  policy().set_attributes(kA, capped(20), player.now);
  EXPECT_EQ(left(kA), 20ms);
  policy().set_attributes(kA, capped(15), player.now);
  EXPECT_EQ(decision().ask_again, begin + 600ms);
  policy().set_attributes(kA, capped(30), player.now);
  EXPECT_EQ(player.next(), kA);
}

TEST_F(Cap, ACapOfZeroWaitsForAHigherOne) {
  add(kA, 0);
  EXPECT_FALSE(decision().turn);
  EXPECT_FALSE(decision().ask_again);
  player.now = begin + 10s;
  EXPECT_FALSE(player.next());
  policy().set_attributes(kA, capped(1), player.now);
  EXPECT_EQ(player.next(), kA);
}

TEST_F(Cap, AHolderWithoutTimeLeftMustYield) {
  add(kA, 20);
  policy().begin(kA, player.now);
  policy().charge(kA, 19ms, player.now);
  EXPECT_FALSE(policy().must_yield(kA, player.now));
  policy().charge(kA, 1ms, player.now);
  EXPECT_TRUE(policy().must_yield(kA, player.now));
  EXPECT_FALSE(policy().review_at(kA, player.now));  // its turn ends with its slice
}

TEST_F(Cap, ATurnWithoutAnEndIsReviewedInTheNextStageAfterItsTenantGotACap) {
  add(kA, 100);
  policy().begin(kA, player.now);
  EXPECT_FALSE(policy().review_at(kA, player.now));
  player.now = begin + 250ms;
  policy().charge(kA, 250ms, player.now);
  EXPECT_FALSE(policy().must_yield(kA, player.now));
  policy().set_attributes(kA, capped(50), player.now);
  EXPECT_EQ(policy().review_at(kA, player.now), begin + 300ms);
  EXPECT_TRUE(policy().must_yield(kA, player.now));
  policy().end(kA, player.now);
  EXPECT_FALSE(policy().review_at(kA, player.now));
}

TEST_F(Cap, RemovingAndRestoringATenantRefillsNothing) {
  add(kA, 20);
  player.run(17ms);
  const TenantBudget budget = policy().budget(kA, player.now);
  policy().remove(kA, player.now);
  policy().add(kA, capped(20), player.now);
  policy().restore(kA, budget, player.now);
  EXPECT_EQ(left(kA), 3ms);
}

TEST_F(Cap, AnOverrunAndItsSecondSurviveAChangeOfPolicy) {
  add(kA, 20);
  player.run(90ms);
  CapPolicy next(1ms);
  next.add(kA, capped(20), player.now);
  next.restore(kA, policy().budget(kA, player.now), player.now);
  EXPECT_EQ(next.left(kA, player.now), -70ms);
  EXPECT_EQ(next.left(kA, begin + 500ms), 30ms);
  EXPECT_EQ(next.left(kA, begin + 1s), 20ms);
}

TEST_F(Cap, ABudgetOfAnEarlierSecondCountsNoMore) {
  add(kA, 20);
  player.run(20ms);
  const TenantBudget budget = policy().budget(kA, player.now);
  CapPolicy later(1ms);
  later.add(kA, capped(20), begin + 1s);
  later.restore(kA, budget, begin + 1s);
  EXPECT_EQ(later.left(kA, begin + 1s), 20ms);
}

TEST_F(Cap, UseThatAnotherPolicyHasNotedCountsAsFarAsItCanBeOfThisSecond) {
  TenantBudget budget;
  budget.last_second = {{begin - 500ms, begin - 400ms, 90ms},  // before
                        {begin - 50ms, begin + 10ms, 40ms},    // 10 ms at most
                        {begin + 20ms, begin + 50ms, 4ms}};
  player.now = begin + 60ms;
  add(kA, 20);
  policy().restore(kA, budget, player.now);
  EXPECT_EQ(left(kA), 6ms);
}

TEST_F(Cap, ACappedTenantMayBeForgottenWhenItsSecondIsOver) {
  add(kA, 20);
  EXPECT_TRUE(policy().may_forget(kA));
  player.run(1ms);
  policy().block(kA, player.now);
  EXPECT_FALSE(policy().may_forget(kA));
  player.now = begin + 1s;
  add(kB, 20);
  EXPECT_TRUE(policy().may_forget(kA));
}

}  // namespace
}  // namespace fairgv::sched
