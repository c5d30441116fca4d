// The fair policy with promises: guarantees, ceilings and classes beside the weights.
#include <gtest/gtest.h>

#include "sched/policies/fair.hpp"
#include "tests/unit/sched/policy_player.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr TenantId kNobodyKnows{4};
constexpr TenantAttributes kLatency{.service = ServiceClass::latency};
constexpr TenantAttributes kBatch{.service = ServiceClass::batch};

TenantAttributes guaranteed(Duration budget, Duration period, TenantAttributes others = {}) {
  others.min = {budget, period};
  return others;
}

TenantAttributes capped(std::uint32_t ppm, TenantAttributes others = {}) {
  others.max = {ppm};
  return others;
}

struct FairPromises : testing::Test {
  PolicyPlayer player{"fair", 6ms};
  Policy& policy = *player.policy;
  Time& now = player.now;

  void add(TenantId id, const TenantAttributes& attributes = {}) {
    policy.add(id, attributes, now);
    policy.wake(id, now);
  }
  Turn next() {
    const Decision decision = policy.next(now);
    EXPECT_TRUE(decision.turn);
    return decision.turn.value_or(Turn{});
  }
  /// Uses the device in the turn that has begun.
  void use(TenantId id, Duration used) { policy.charge(id, used, now += used); }
  void begin(TenantId id) { policy.begin(id, now); }
  void end(TenantId id) { policy.end(id, now); }
  /// As often as the next tenant has a turn of its own slice, until so much time has passed.
  void run_for(Duration time) {
    for (const Time until = now + time; now < until;) {
      const Decision decision = policy.next(now);
      if (decision.turn) {
        player.run(decision.turn->slice);
      } else {
        ASSERT_TRUE(decision.ask_again);
        ASSERT_GT(*decision.ask_again, now);
        now = std::min(*decision.ask_again, until);
      }
    }
  }
  double used_part(TenantId id, Duration before, Duration time) {
    return std::chrono::duration<double>(player.total[id] - before) / time;
  }
  /// A new policy object goes on from the budgets of this one, as the arbiter does it.
  void exchange(std::initializer_list<std::pair<TenantId, TenantAttributes>> tenants) {
    std::map<TenantId, TenantBudget> budgets;
    for (const auto& [id, attributes] : tenants) budgets[id] = policy.budget(id, now);
    later = make_policy("fair", 6ms);
    for (const auto& [id, attributes] : tenants) {
      later->add(id, attributes, now);
      later->restore(id, budgets[id], now);
    }
  }
  std::unique_ptr<Policy> later;
};

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

TEST_F(FairPromises, AMatchingClassChangeGivesTheRunningTenantNoSecondTurn) {
  add(kA);
  add(kB, guaranteed(2ms, 10ms));
  begin(kB);
  policy.set_attributes(kB, guaranteed(2ms, 10ms, kLatency), now);
  use(kB, 2ms);
  end(kB);
  EXPECT_EQ(next().tenant, kA);
  begin(kA);
  policy.set_attributes(kA, kBatch, now);
  policy.set_attributes(kA, kLatency, now);
  use(kA, 2ms);
  end(kA);
  policy.set_attributes(kB, kLatency, now);
  EXPECT_EQ(next().tenant, kB) << "A has used more";
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

// -- the next policy object

TEST_F(FairPromises, DebtsOutliveAChangeOfPolicyWhoeverWakesFirst) {
  add(kA);
  add(kB);
  player.run(1s);  // A
  for (const bool debtor_first : {true, false}) {
    exchange({{kA, {}}, {kB, {}}});
    later->wake(debtor_first ? kA : kB, now);
    later->wake(debtor_first ? kB : kA, now);
    const FairQueue& queue = static_cast<FairPolicy&>(*later).queue();
    EXPECT_EQ(queue.start_tag(kA) - queue.start_tag(kB), 1e9);
  }
}

TEST_F(FairPromises, ASleeperThatWakesAfterTheFirstTurnStartsAtVirtualTime) {
  add(kA);
  policy.add(kB, {}, now);
  exchange({{kA, {}}, {kB, {}}});
  later->wake(kA, now);
  later->begin(kA, now);
  later->charge(kA, 1s, now += 1s);
  later->wake(kB, now);
  EXPECT_EQ(static_cast<FairPolicy&>(*later).queue().start_tag(kB), 1e9);
}

TEST_F(FairPromises, AGuaranteeGoesOnWhereItWas) {
  const TenantAttributes attributes = guaranteed(2ms, 100ms);
  add(kA, attributes);
  add(kB);
  policy.charge(kB, 40ms, now += 40ms);  // A waits: it is owed 40 ms
  exchange({{kA, attributes}, {kB, {}}});
  later->wake(kA, now);
  later->wake(kB, now);
  EXPECT_EQ(later->budget(kA, now).guaranteed_until, now - 40ms);
}

TEST_F(FairPromises, ASleepersGuaranteeIsNotRefilledByAChangeOfPolicy) {
  const TenantAttributes attributes = guaranteed(2ms, 100ms);
  add(kA, attributes);
  add(kB);
  policy.block(kA, now);
  now += 10s;
  exchange({{kA, attributes}, {kB, {}}});
  later->wake(kB, now);
  later->wake(kA, now);
  EXPECT_EQ(later->budget(kA, now).guaranteed_until, now);
}

TEST_F(FairPromises, TheDebtOfTheFloorOutlivesAChangeOfPolicy) {
  add(kA);
  add(kB, kBatch);
  ASSERT_EQ(player.run(1h), kB) << "a kernel that cannot be cut, in a turn for the floor";
  const Time until = *policy.budget(kB, now).guaranteed_until;
  EXPECT_GT(until, now + 18h);
  exchange({{kA, {}}, {kB, kBatch}});
  later->wake(kB, now);
  later->wake(kA, now);
  EXPECT_EQ(later->budget(kB, now).guaranteed_until, until);
  EXPECT_EQ(later->next(now).turn->tenant, kA);
}

TEST_F(FairPromises, ATurnThatAnEarlierPolicyGrantedIsAskedForIfItsTenantHasACeiling) {
  policy.add(kA, capped(500'000), now);
  policy.wake(kA, now);
  begin(kA);  // not granted here
  EXPECT_TRUE(policy.must_yield(kA, now));
}

// -- reports that come late, and names that nobody knows

TEST_F(FairPromises, EventsAboutUnknownTenantsDoNothing) {
  add(kA, guaranteed(1ms, 10ms));
  add(kB, capped(500'000));
  const auto before = policy.budget(kA, now);
  policy.remove(kNobodyKnows, now);
  policy.set_attributes(kNobodyKnows, guaranteed(1ms, 2ms), now);
  policy.wake(kNobodyKnows, now);
  policy.block(kNobodyKnows, now);
  policy.charge(kNobodyKnows, 1h, now);
  policy.restore(kNobodyKnows, {.ahead = 1h}, now);
  policy.end(kNobodyKnows, now);
  EXPECT_EQ(policy.pause(kNobodyKnows, now), std::nullopt);
  EXPECT_EQ(policy.preempts(kNobodyKnows, kA, now), std::nullopt);
  EXPECT_EQ(policy.preempts(kA, kNobodyKnows, now), std::nullopt);
  EXPECT_EQ(policy.review_at(kNobodyKnows, now), std::nullopt);
  EXPECT_TRUE(policy.may_forget(kNobodyKnows));
  EXPECT_TRUE(policy.budget(kNobodyKnows, now).empty());
  EXPECT_EQ(policy.budget(kA, now), before);
  EXPECT_EQ(next().tenant, kA);
}

TEST_F(FairPromises, ATenantMayBeForgottenWhenNothingIsOwedOrHadInAdvance) {
  add(kA);
  add(kB, guaranteed(1ms, 10ms));
  ASSERT_EQ(player.run(5ms), kB);
  policy.block(kB, now);
  EXPECT_FALSE(policy.may_forget(kB)) << "served for 50 ms";
  player.run(46ms);
  EXPECT_TRUE(policy.may_forget(kB));
}

TEST_F(FairPromises, KernelsOfHoursAndTimeZeroOverflowNothing) {
  const auto fresh = make_policy("fair", 6ms);
  Time at{};
  for (std::uint32_t i = 0; i < 6; ++i) {
    TenantAttributes attributes = guaranteed(1us, 200ms, {.weight = 1 + i});
    attributes.service = static_cast<ServiceClass>(i % 3);
    if (i >= 3) attributes.max = {1};
    fresh->add(TenantId{i}, attributes, at);
    fresh->wake(TenantId{i}, at);
  }
  for (int turn = 0; turn < 200; ++turn) {
    const Decision decision = fresh->next(at);
    if (!decision.turn) {
      ASSERT_TRUE(decision.ask_again);
      at = std::min(*decision.ask_again, at + 24h);
      continue;
    }
    ASSERT_GT(decision.turn->slice, 0ns);
    const TenantId id = decision.turn->tenant;
    fresh->begin(id, at);
    fresh->charge(id, 10h, at += 10h);
    fresh->end(id, at);
  }
}

}  // namespace
}  // namespace fairgv::sched
