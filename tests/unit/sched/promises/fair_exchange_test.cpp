// The fair policy with promises: what a new policy object goes on from, and reports that come late.
#include "tests/unit/sched/promises/fair_promises.hpp"

namespace fairgv::sched {
namespace {

constexpr TenantId kNobodyKnows{4};

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

TEST_F(FairPromises, AGuaranteeGoesOnHoweverLongTheExchangeTakes) {
  const TenantAttributes attributes = guaranteed(2ms, 100ms);
  add(kA, attributes);
  exchange({{kA, attributes}});
  later->wake(kA, now += 50ms);
  EXPECT_EQ(later->budget(kA, now).guaranteed_until, now - 50ms);
}

TEST_F(FairPromises, ADeviceThatRestsAfterAnExchangeForgivesDebts) {
  add(kA);
  add(kB);
  exchange({{kA, {}}, {kB, {}}});
  later->rest(1s, now += 1s);
  later->wake(kA, now);
  EXPECT_EQ(static_cast<FairPolicy&>(*later).queue().start_tag(kA), 5e8) << "virtual time";
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
