// The policies that `fair` is compared with: fifo, round-robin, the two of credits, strict coscheduling.
#include <gtest/gtest.h>

#include <optional>

#include "sched/policies/credit/credit_hs.hpp"
#include "sched/policies/credit/strict_cosched.hpp"
#include "tests/unit/sched/policy_player.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

TEST(FifoPolicy, SharesFollowTheLengthOfTheCommands) {
  PolicyPlayer player("fifo", 6ms);
  player.add_runnable(kA, 100);
  player.add_runnable(kB, 1);
  for (int turn = 0; turn < 200; ++turn) player.run(player.next() == kA ? 1ms : 3ms);
  EXPECT_NEAR(player.share(kB), 0.75, 0.01);
}

TEST(FifoPolicy, TenantsRunInTheOrderInWhichTheyCame) {
  PolicyPlayer player("fifo", 6ms);
  player.add_runnable(kB);
  player.add_runnable(kA);
  player.add_runnable(kC);
  for (const TenantId expected : {kB, kA, kC, kB}) EXPECT_EQ(player.run(1ms), expected);
}

TEST(FifoPolicy, ATurnIsOneCommand) {
  PolicyPlayer player("fifo", 6ms);
  player.add_runnable(kA);
  EXPECT_EQ(player.policy->next(player.now).turn->slice, 1ns);
}

TEST(RoundRobinPolicy, AnOverrunIsForgiven) {
  PolicyPlayer player("round-robin", 6ms);
  player.add_runnable(kA);
  player.add_runnable(kB);
  ASSERT_EQ(player.run(1s), kA);
  ASSERT_EQ(player.run(6ms), kB);
  EXPECT_EQ(player.next(), kA);
}

TEST(RoundRobinPolicy, ATenantThatComesBackQueuesBehindAllOthers) {
  PolicyPlayer player("round-robin", 6ms);
  for (const TenantId id : {kA, kB, kC}) player.add_runnable(id);
  EXPECT_EQ(player.run_and_pause(1ms), std::nullopt);
  player.policy->block(kA, player.now);
  player.policy->wake(kA, player.now);
  for (const TenantId expected : {kB, kC, kA}) EXPECT_EQ(player.run(6ms), expected);
}

TEST(CreditPolicy, ATurnCostsAtMostASlice) {
  PolicyPlayer player("credit-poll", 6ms);
  player.add_runnable(kA);
  player.add_runnable(kB);
  // A's queued kernels drain for 6 ms after each of its turns: equal credits, unequal time.
  for (int turn = 0; turn < 400; ++turn) player.run(player.next() == kA ? 12ms : 6ms);
  EXPECT_NEAR(player.share(kA), 2.0 / 3, 0.02);
}

TEST(CreditPolicy, ATenantWithCreditsRunsBeforeOneThatHasOverdrawn) {
  PolicyPlayer player("credit-hs", 6ms);
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 5);
  ASSERT_EQ(player.run(6ms), kA);  // A: -6 + 1, B: +5
  ASSERT_EQ(player.run(6ms), kB);  // A: -4, B: +4
  EXPECT_EQ(player.next(), kB);
  const auto& credits = static_cast<CreditHsPolicy&>(*player.policy);
  EXPECT_EQ(credits.credit(kA), -4ms);
  EXPECT_EQ(credits.credit(kB), 4ms);
}

TEST(CreditPolicy, CreditsStayWithinASlice) {
  PolicyPlayer player("credit-hs", 6ms);
  player.add_runnable(kA, 1);
  player.add_runnable(kB, kMaxWeight);
  const auto& credits = static_cast<CreditHsPolicy&>(*player.policy);
  for (int turn = 0; turn < 100; ++turn) {
    player.run(turn % 3 == 0 ? 2ms : 9ms);
    for (const TenantId id : {kA, kB}) {
      EXPECT_GE(credits.credit(id), -6ms);
      EXPECT_LE(credits.credit(id), 6ms);
    }
  }
}

TEST(CreditPollPolicy, KeepsTheDeviceForAPausingTenantUntilItsSliceIsOverAndChargesIt) {
  PolicyPlayer player("credit-poll", 6ms);
  player.add_runnable(kA);
  player.add_runnable(kB);
  const Time began = player.now;
  EXPECT_EQ(player.run_and_pause(1ms), began + 6ms);
  player.now += 2ms;
  player.policy->wake(kA, player.now);
  ASSERT_EQ(player.next(), kA);
  EXPECT_EQ(player.policy->next(player.now).turn->slice, 3ms);
  EXPECT_EQ(player.run_and_pause(1ms), began + 6ms);
  player.now = began + 6ms;
  player.policy->block(kA, player.now);
  EXPECT_EQ(player.next(), kB);
  EXPECT_EQ(static_cast<CreditPolicy&>(*player.policy).credit(kA), -3ms);  // 6 paid, half of it handed back
}

TEST(CreditPollPolicy, TurnsEndByTheClock) {
  PolicyPlayer player("credit-poll", 6ms);
  player.add_runnable(kA);
  EXPECT_EQ(player.policy->next(player.now).turn->end, TurnEnd::clock);
}

TEST(CreditHsPolicy, GivesTheDeviceAwayWhenItsTenantPauses) {
  PolicyPlayer player("credit-hs", 6ms);
  player.add_runnable(kA);
  player.add_runnable(kB);
  EXPECT_EQ(player.run_and_pause(1ms), std::nullopt);
  EXPECT_EQ(player.policy->next(player.now).turn->end, TurnEnd::clock);
  player.policy->block(kA, player.now);
  EXPECT_EQ(static_cast<CreditPolicy&>(*player.policy).credit(kA), -1ms);  // for the time that it had
}

struct StrictCosched : testing::Test {
  PolicyPlayer player{"strict-cosched", 6ms};
};

TEST_F(StrictCosched, ATurnStaysIdleWhenItsTenantPauses) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  const Time began = player.now;
  EXPECT_EQ(player.run_and_pause(1ms), began + 6ms);
  EXPECT_FALSE(player.policy->preempts(kB, kA, player.now));
  player.policy->block(kA, player.now);
  const Decision idle = player.policy->next(player.now);
  EXPECT_FALSE(idle.turn);
  EXPECT_EQ(idle.ask_again, began + 6ms);
  player.now = *idle.ask_again;
  EXPECT_EQ(player.next(), kB);
}

TEST_F(StrictCosched, ATenantThatComesBackHasTheRestOfItsTurn) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  ASSERT_TRUE(player.run_and_pause(1ms));
  player.policy->block(kA, player.now);
  player.now += 2ms;
  player.policy->wake(kA, player.now);
  ASSERT_EQ(player.next(), kA);
  EXPECT_EQ(player.policy->next(player.now).turn->slice, 3ms);
}

TEST_F(StrictCosched, ATenantThatComputesOnTheHostKeepsItsTurnsForAWhile) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  player.run(6ms);
  player.policy->block(kA, player.now);
  const Time blocked = player.now;
  int idle_turns = 0;
  while (player.now < blocked + 200ms) {
    const Decision decision = player.policy->next(player.now);
    if (decision.turn) {
      EXPECT_EQ(player.run(decision.turn->slice), kB);
      continue;
    }
    ++idle_turns;
    EXPECT_LE(player.now, blocked + PlayedHost::kHostWork);
    player.now = *decision.ask_again;
  }
  EXPECT_NEAR(idle_turns, 100 / 12, 1);  // every other turn of the first 100 ms
}

}  // namespace
}  // namespace fairgv::sched
