// Algorithm 1 of Pegasus: acc-credit, xeno-credit, and the feedback of slaf.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "sched/policies/pegasus/acc_credit.hpp"
#include "sched/policies/pegasus/slaf.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/sched/policy_player.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr TenantId kD{4};

struct RingPlayer : PolicyPlayer {
  explicit RingPlayer(const char* name) : PolicyPlayer(name, 10ms) {}

  void add(TenantId id, const TenantAttributes& attributes) {
    policy->add(id, attributes, now);
    policy->wake(id, now);
  }
  /// The next tenant has its whole turn; returns its ticks.
  std::pair<TenantId, std::int64_t> turn() {
    const Turn granted = policy->next(now).turn.value();
    run(granted.slice);
    return {granted.tenant, granted.slice / 10ms};
  }
};

using Turns = std::vector<std::pair<TenantId, std::int64_t>>;

Turns turns_of(RingPlayer& player, int count) {
  Turns turns;
  for (int i = 0; i < count; ++i) turns.push_back(player.turn());
  return turns;
}

// Section 4.1: (Dom1,1024), (Dom2,512), (Dom3,256), (Dom4,512) get 4, 2, 1 and 2 ticks.
TEST(AccCredit, TurnsHaveTheTicksOfThePapersExampleInTheOrderOfTheCredits) {
  RingPlayer player("acc-credit");
  player.add(kA, {.weight = 1024});
  player.add(kB, {.weight = 512});
  player.add(kC, {.weight = 256});
  player.add(kD, {.weight = 512});
  turns_of(player, 4);
  EXPECT_EQ(turns_of(player, 8),
            (Turns{{kA, 4}, {kB, 2}, {kD, 2}, {kC, 1}, {kA, 4}, {kB, 2}, {kD, 2}, {kC, 1}}));
}

TEST(AccCredit, ATenantThatHasJustComeGetsOneTickFirst) {
  RingPlayer player("acc-credit");
  player.add(kA, {.weight = 3});
  player.add(kB, {.weight = 1});
  EXPECT_EQ(turns_of(player, 4), (Turns{{kA, 1}, {kB, 1}, {kA, 3}, {kB, 1}}));
  player.add(kC, {.weight = 2});
  EXPECT_EQ(turns_of(player, 6), (Turns{{kA, 3}, {kC, 1}, {kB, 1}, {kA, 3}, {kC, 2}, {kB, 1}}));
}

TEST(AccCredit, TheContextLastsUntilTheTenantIsRemoved) {
  RingPlayer player("acc-credit");
  player.add(kA, {.weight = 3});
  player.add(kB, {.weight = 1});
  turns_of(player, 2);
  player.policy->block(kA, player.now);
  player.now += 1h;
  player.policy->wake(kA, player.now);
  EXPECT_EQ(player.turn(), (std::pair<TenantId, std::int64_t>{kA, 3}));
  player.policy->remove(kA, player.now);
  player.add(kA, {.weight = 3});
  EXPECT_EQ(turns_of(player, 2), (Turns{{kA, 1}, {kB, 1}}));
}

TEST(AccCredit, ATurnIsByTheClockAndGoesOnAfterASessionGaveItBack) {
  RingPlayer player("acc-credit");
  player.add(kA, {.weight = 2});
  player.add(kB, {.weight = 1});
  turns_of(player, 2);
  ASSERT_EQ(player.run(5ms), kA);
  const Turn rest = player.policy->next(player.now).turn.value();
  EXPECT_EQ(rest.tenant, kA);
  EXPECT_EQ(rest.slice, 15ms);
  EXPECT_EQ(rest.end, TurnEnd::clock);
  EXPECT_FALSE(rest.switch_in);
}

TEST(AccCredit, TheDeviceIsKeptForATenantThatPausesUntilItsTicksAreOver) {
  RingPlayer player("acc-credit");
  player.add(kA, {.weight = 2});
  player.add(kB, {.weight = 1});
  turns_of(player, 2);
  const Time began = player.now;
  EXPECT_EQ(player.run_and_pause(5ms), began + 20ms);
  EXPECT_FALSE(player.policy->preempts(kB, kA, player.now));
  player.policy->wake(kA, player.now += 5ms);
  EXPECT_EQ(player.policy->next(player.now).turn->slice, 10ms);
  EXPECT_EQ(player.run_and_pause(10ms), std::nullopt);
}

TEST(AccCredit, ATenantThatLeavesInTheMiddleEndsItsTurn) {
  RingPlayer player("acc-credit");
  player.add(kA, {.weight = 2});
  player.add(kB, {.weight = 1});
  turns_of(player, 2);
  ASSERT_EQ(player.run(5ms), kA);
  player.policy->block(kA, player.now);
  EXPECT_EQ(player.next(), kB);
  player.policy->wake(kA, player.now);
  EXPECT_EQ(player.next(), kB) << "and does not find it again";
}

TEST(AccCredit, ATenantThatComesBackAfterItsTurnWaitsForTheNextRound) {
  RingPlayer player("acc-credit");
  for (const TenantId id : {kA, kB, kC}) player.add(id, {});
  turns_of(player, 3);
  ASSERT_EQ(player.run(10ms), kA);
  player.policy->block(kA, player.now);
  player.policy->wake(kA, player.now);
  EXPECT_EQ(turns_of(player, 3), (Turns{{kB, 1}, {kC, 1}, {kA, 1}}));
}

TEST(AccCredit, TheSmallestCreditsAreThoseOfARivalThatHasSomethingToRunOrHadJustNow) {
  RingPlayer player("acc-credit");
  player.add(kA, {.weight = 4});
  player.add(kB, {.weight = 2});
  player.add(kC, {.weight = 1});
  turns_of(player, 3);
  player.policy->block(kC, player.now);
  EXPECT_EQ(turns_of(player, 1), (Turns{{kA, 4}})) << "C has only paused";
  EXPECT_EQ(turns_of(player, 2), (Turns{{kB, 1}, {kA, 2}})) << "C has left";
}

TEST(AccCredit, PartsOfATickAreCarriedOver) {
  RingPlayer player("acc-credit");
  player.add(kA, {.weight = 5});
  player.add(kB, {.weight = 2});
  turns_of(player, 2);
  EXPECT_EQ(turns_of(player, 4), (Turns{{kA, 2}, {kB, 1}, {kA, 3}, {kB, 1}}));
}

TEST(AccCredit, NewCreditsHoldFromTheNextTurnOn) {
  RingPlayer player("acc-credit");
  player.add(kA, {.weight = 1});
  player.add(kB, {.weight = 1});
  turns_of(player, 2);
  player.policy->set_attributes(kB, {.weight = 3}, player.now);
  EXPECT_EQ(turns_of(player, 4), (Turns{{kB, 3}, {kA, 1}, {kB, 3}, {kA, 1}}));
}

TEST(AccCredit, TimeIsInProportionToAnyCredits) {
  std::mt19937_64 random(harness::printed_seed());
  std::uniform_int_distribution<std::uint32_t> credits(1, 20);
  std::uniform_int_distribution<std::uint32_t> some(2, 8);
  for (int population = 0; population < 20; ++population) {
    RingPlayer player("acc-credit");
    std::vector<std::uint32_t> weights(some(random));
    double sum = 0;
    for (std::uint32_t i = 0; i < weights.size(); ++i) {
      sum += weights[i] = credits(random);
      player.add(TenantId{i}, {.weight = weights[i]});
    }
    const auto rounds = 1000 * static_cast<int>(weights.size());
    turns_of(player, rounds);
    for (std::uint32_t i = 0; i < weights.size(); ++i) {
      EXPECT_NEAR(player.share(TenantId{i}), weights[i] / sum, 0.005);
    }
  }
}

TEST(AccCredit, TheRestOfATurnSurvivesAChangeOfPolicy) {
  RingPlayer player("acc-credit");
  player.add(kA, {.weight = 3});
  player.add(kB, {.weight = 1});
  turns_of(player, 2);
  ASSERT_EQ(player.run(10ms), kA);
  EXPECT_EQ(player.policy->budget(kA, player.now).reserve->left, 20ms);
  EXPECT_EQ(player.policy->budget(kB, player.now).reserve->left, 0ms);
  EXPECT_TRUE(player.policy->budget(kC, player.now).empty());
  AccCreditPolicy next(10ms);
  next.add(kB, {.weight = 1}, player.now);
  next.restore(kB, {.reserve = ReserveState{4ms, {}}}, player.now);
  next.wake(kB, player.now);
  EXPECT_EQ(next.next(player.now).turn->slice, 14ms);
  next.begin(kB, player.now);
  next.end(kB, player.now += 14ms);
  EXPECT_EQ(next.next(player.now).turn->slice, 10ms) << "once";
}

TEST(XenoCredit, GoesByTheHostsCreditsAlone) {
  RingPlayer player("xeno-credit");
  player.add(kA, {.weight = 100, .host_weight = 256});
  player.add(kB, {.weight = 1, .host_weight = 1024});
  turns_of(player, 2);
  EXPECT_EQ(turns_of(player, 3), (Turns{{kB, 4}, {kA, 1}, {kB, 4}}));
}

TEST(XenoCredit, AHostWeightOfNothingCountsAsOne) {
  RingPlayer player("xeno-credit");
  player.add(kA, {.host_weight = 0});
  player.add(kB, {.host_weight = 2});
  turns_of(player, 2);
  EXPECT_EQ(turns_of(player, 2), (Turns{{kB, 2}, {kA, 1}}));
}

struct Slaf : testing::Test {
  RingPlayer player{"slaf"};

  const SlafPolicy& policy() const { return static_cast<const SlafPolicy&>(*player.policy); }
  void run_for(Duration time) {
    for (const Time end = player.now + time; player.now < end;) player.turn();
  }
  /// Of the time from now on.
  double share_within(Duration time, TenantId id) {
    player.total.clear();
    run_for(time);
    return player.share(id);
  }
};

TEST_F(Slaf, ATenantBelowItsLevelLacksTheTicksOfTheLastSecond) {
  player.add(kA, {.min = {500ms, 1s}});
  player.add(kB, {});
  player.add(kC, {});
  run_for(1s);
  EXPECT_EQ(policy().lacking(kA), 0U) << "nothing has been scanned yet";
  player.turn();
  while (policy().lacking(kA) == 0 && player.now < Time(1'100s)) player.turn();
  // It had a third of the second and was to have a half, and one extra tick may be gone.
  EXPECT_NEAR(static_cast<double>(policy().lacking(kA)), 17, 1);
  EXPECT_EQ(policy().lacking(kB), 0U);
}

TEST_F(Slaf, ExtraTicksComeOneInEachTurnUntilNothingIsLacking) {
  player.add(kA, {.min = {500ms, 1s}});
  player.add(kB, {});
  player.add(kC, {});
  while (policy().lacking(kA) == 0) player.turn();
  for (std::uint64_t lacking = policy().lacking(kA); lacking > 0;) {
    const auto [tenant, ticks] = player.turn();
    EXPECT_EQ(ticks, tenant == kA ? 2 : 1);
    lacking -= tenant == kA ? 1U : 0U;
    EXPECT_EQ(policy().lacking(kA), lacking);
  }
  while (player.next() != kA) player.turn();
  EXPECT_EQ(player.turn().second, 1);
}

TEST_F(Slaf, ReachesALevelThatOneTickMorePerTurnCanReach) {
  player.add(kA, {.min = {500ms, 1s}});
  player.add(kB, {});
  player.add(kC, {});
  run_for(5s);
  EXPECT_NEAR(share_within(20s, kA), 0.5, 0.02);
}

TEST_F(Slaf, ReachesAnyFeasibleLevelForAnyCredits) {
  std::mt19937_64 random(harness::printed_seed());
  std::uniform_int_distribution<std::uint32_t> credits(1, 6);
  std::uniform_real_distribution<double> part(0, 1);
  for (int population = 0; population < 20; ++population) {
    player = RingPlayer("slaf");
    const std::uint32_t own = credits(random);
    const std::uint32_t others = credits(random);
    const std::uint32_t least = std::min(own, others);
    const double ticks = static_cast<double>(own) / least;
    const double all = static_cast<double>(own + others) / least;
    const double level = ticks / all + part(random) * ((ticks + 1) / (all + 1) - ticks / all);
    player.add(kA, {.weight = own, .min = {Duration(static_cast<std::int64_t>(level * 0.98e9)), 1s}});
    player.add(kB, {.weight = others});
    run_for(10s);
    EXPECT_GE(share_within(30s, kA), level * 0.98 - 0.02) << own << " against " << others;
  }
}

TEST_F(Slaf, ALevelOutOfReachGetsOneTickMoreInEveryTurn) {
  player.add(kA, {.min = {900ms, 1s}});
  player.add(kB, {});
  run_for(5s);
  EXPECT_NEAR(share_within(20s, kA), 2.0 / 3, 0.01);
}

TEST_F(Slaf, ATenantThatHasItsLevelAnywayGetsItsCreditsOnly) {
  player.add(kA, {.min = {100ms, 1s}});
  player.add(kB, {});
  run_for(2s);
  EXPECT_NEAR(share_within(10s, kA), 0.5, 0.01);
}

TEST_F(Slaf, TimeWithNothingToRunIsNoViolation) {
  player.add(kA, {.min = {500ms, 1s}});
  player.add(kB, {});
  run_for(3s);
  player.policy->block(kA, player.now);
  run_for(5s);
  player.policy->wake(kA, player.now);
  run_for(100ms);
  EXPECT_EQ(policy().lacking(kA), 0U);
}

TEST_F(Slaf, ALevelIsOfTheTimeInWhichATenantHasSomethingToRun) {
  player.add(kA, {.min = {500ms, 1s}});
  player.add(kB, {});
  player.add(kC, {});
  run_for(500ms);
  player.policy->block(kA, player.now);
  run_for(510ms);
  player.policy->wake(kA, player.now);
  // It had a third of a half second, and was to have a half.
  EXPECT_NEAR(static_cast<double>(policy().lacking(kA)), 8, 1);
}

TEST_F(Slaf, TicksThatATenantLeavesUnusedDoNotCount) {
  player.add(kA, {.weight = 100, .min = {900ms, 1s}});
  player.add(kB, {});
  while (policy().lacking(kA) == 0 && player.now < Time(1'010s)) {
    if (player.run(10ms) != kA) continue;
    player.policy->block(kA, player.now);
    player.policy->wake(kA, player.now);
  }
  EXPECT_NEAR(static_cast<double>(policy().lacking(kA)), 40, 3) << "it had every other tick";
}

TEST_F(Slaf, UnderHighLoadTheTenantWithMoreCreditsIsCompensatedFirst) {
  player.add(kA, {.weight = 2, .min = {700ms, 1s}});
  player.add(kB, {.weight = 1, .min = {500ms, 1s}});
  player.add(kC, {.weight = 2});
  EXPECT_FALSE(policy().high_load());
  while (!policy().high_load()) player.turn();
  ASSERT_GT(policy().lacking(kA), 0U);
  const std::uint64_t lacking = policy().lacking(kB);
  ASSERT_GT(lacking, 0U);
  for (int turn = 0; turn < 9; ++turn) {
    const auto [tenant, ticks] = player.turn();
    EXPECT_EQ(ticks, tenant == kA ? 3 : tenant == kB ? 1 : 2);
  }
  EXPECT_EQ(policy().lacking(kB), lacking);
}

TEST_F(Slaf, WhatItLacksSurvivesAChangeOfPolicy) {
  player.add(kA, {.min = {500ms, 1s}});
  player.add(kB, {});
  player.add(kC, {});
  while (policy().lacking(kA) == 0) player.turn();
  while (player.next() != kB) player.turn();
  const TenantBudget budget = player.policy->budget(kA, player.now);
  SlafPolicy next(10ms);
  next.add(kA, {.min = {500ms, 1s}}, player.now);
  next.restore(kA, budget, player.now);
  EXPECT_EQ(next.lacking(kA), policy().lacking(kA));
}

}  // namespace
}  // namespace fairgv::sched
