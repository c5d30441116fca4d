// Algorithm 2 of Pegasus: aug-credit and cosched, which listen to the host's scheduler.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "sched/policies/pegasus/aug_credit.hpp"
#include "sched/policies/pegasus/cosched.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/sched/policy_player.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

struct CoordinatedPlayer : PolicyPlayer {
  explicit CoordinatedPlayer(const char* name) : PolicyPlayer(name, 10ms) {}

  void host(TenantId id, bool scheduled, Duration credit_left = 0ms) {
    policy->host(id, {scheduled, credit_left}, now);
  }
  /// The tenants of the next ticks. The host goes on to run this tenant, and no other.
  std::vector<TenantId> ticks(int count, std::optional<TenantId> scheduled = {}, Duration credit = 20ms) {
    std::vector<TenantId> tenants;
    for (int i = 0; i < count; ++i) {
      for (const TenantId id : {kA, kB, kC}) host(id, id == scheduled, credit);
      tenants.push_back(run(10ms));
    }
    return tenants;
  }
  Duration left_of(TenantId id) const { return static_cast<CoordinatedPolicy&>(*policy).left_of(id); }
};

using Ticks = std::vector<TenantId>;

class BothCoordinated : public testing::TestWithParam<const char*> {
 protected:
  CoordinatedPlayer player{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, BothCoordinated, testing::Values("aug-credit", "cosched"),
                         [](const auto& test) { return test.index == 0 ? "AugCredit" : "Cosched"; });

TEST_P(BothCoordinated, WithoutAHostCreditsAloneDecideAndTicksFollowTheWeights) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 3);
  for (int tick = 0; tick < 400; ++tick) player.run(10ms);
  EXPECT_NEAR(player.share(kB), 0.75, 0.01);
}

TEST_P(BothCoordinated, ADecisionHoldsForOneTickByTheClock) {
  player.add_runnable(kA, 5);
  player.add_runnable(kB, 1);
  const Turn turn = player.policy->next(player.now).turn.value();
  EXPECT_EQ(turn.slice, 10ms);
  EXPECT_EQ(turn.end, TurnEnd::clock);
  EXPECT_FALSE(turn.switch_in);
  player.policy->begin(turn.tenant, player.now);
  const TenantId other = turn.tenant == kA ? kB : kA;
  player.host(other, true, 30ms);
  EXPECT_FALSE(player.policy->must_yield(turn.tenant, player.now)) << "not before the tick is over";
}

TEST_P(BothCoordinated, TheScheduledTenantGoesBeforeAnEqualOne) {
  for (const TenantId id : {kA, kB, kC}) player.add_runnable(id);
  ASSERT_EQ(player.run(10ms), kA);
  EXPECT_EQ(player.ticks(1, kC), Ticks{kC});
}

TEST_P(BothCoordinated, AmongEqualsTheTenantThatWasServedLongestAgoGoesFirst) {
  for (const TenantId id : {kA, kB, kC}) player.add_runnable(id);
  ASSERT_EQ(player.run(10ms), kA);
  EXPECT_EQ(player.ticks(1, kC), Ticks{kC});
  EXPECT_EQ(player.ticks(2), (Ticks{kB, kA}));
}

TEST_P(BothCoordinated, ARoundWaitsForATenantThatHasOnlyPaused) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  player.run(10ms);
  ASSERT_EQ(player.left_of(kA), 10ms);
  ASSERT_EQ(player.left_of(kB), 10ms);
  player.policy->block(kB, player.now);
  ASSERT_EQ(player.run(10ms), kA);
  EXPECT_EQ(player.left_of(kA), 0ms) << "B has credits left";
  player.run(10ms);
  player.run(10ms);
  EXPECT_EQ(player.run(10ms), kA);
  EXPECT_GT(player.left_of(kA), -40ms) << "B has left";
}

TEST_P(BothCoordinated, NobodyOwesMoreThanARound) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  player.run(10ms);
  player.policy->set_slice(1s);
  for (int tick = 0; tick < 2; ++tick) player.run(1s);
  player.policy->set_slice(10ms);
  player.total.clear();
  for (int tick = 0; tick < 40; ++tick) player.run(10ms);
  EXPECT_NEAR(player.share(kA), 0.5, 0.06);
}

TEST_P(BothCoordinated, AScheduleThatIsNotRenewedIsForgotten) {
  player.add_runnable(kA, 2);
  player.add_runnable(kB, 1);
  while (player.left_of(kA) <= player.left_of(kB) || player.left_of(kB) <= 0ms) player.run(10ms);
  player.host(kB, true, 30ms);
  EXPECT_EQ(player.next(), kB);
  player.now += CoordinatedPolicy::kHostPeriod + 1ns;
  EXPECT_EQ(player.next(), kA);
}

TEST_P(BothCoordinated, CreditsSurviveAChangeOfPolicy) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 3);
  player.run(10ms);
  const auto successor = make_policy(GetParam(), 10ms);
  for (const TenantId id : {kA, kB}) successor->add(id, {id == kA ? 1U : 3U}, player.now);
  for (const TenantId id : {kA, kB}) {
    successor->restore(id, player.policy->budget(id, player.now), player.now);
  }
  for (const TenantId id : {kA, kB}) {
    EXPECT_EQ(static_cast<CoordinatedPolicy&>(*successor).left_of(id), player.left_of(id));
  }
  successor->restore(kA, {.reserve = ReserveState{1h, {}}}, player.now);
  EXPECT_EQ(static_cast<CoordinatedPolicy&>(*successor).left_of(kA), 10ms) << "no more than a round";
  EXPECT_TRUE(player.policy->budget(kC, player.now).empty());
}

struct AugCredit : testing::Test {
  CoordinatedPlayer player{"aug-credit"};
};

TEST_F(AugCredit, TheBoostIsWhatIsLeftOfTheCreditsOnTheHost) {
  player.add_runnable(kA, 3);
  player.add_runnable(kB, 1);
  while (player.left_of(kA) != 30ms || player.left_of(kB) != 10ms) player.run(10ms);
  player.host(kB, true, 19ms);
  EXPECT_EQ(player.next(), kA);
  player.host(kB, true, 21ms);
  EXPECT_EQ(player.next(), kB);
  player.host(kB, false, 21ms);
  EXPECT_EQ(player.next(), kA) << "not scheduled, no boost";
  player.host(kB, true, -5ms);
  EXPECT_EQ(player.next(), kA) << "an overdrawn tenant is not set back";
}

TEST_F(AugCredit, TheBoostChangesTheOrderWithinARoundAndNotTheShares) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 1);
  player.add_runnable(kC, 2);
  player.ticks(400, kA, 30ms);
  EXPECT_NEAR(player.share(kA), 0.25, 0.01);
  EXPECT_NEAR(player.share(kC), 0.5, 0.01);
}

TEST_F(AugCredit, NobodyIsDeniedItsEventualTurnWhateverTheHostDoes) {
  std::mt19937_64 random(harness::printed_seed());
  std::uniform_int_distribution<std::uint32_t> weight(1, 5);
  std::uniform_int_distribution<std::uint32_t> someone(0, 5);
  std::uniform_int_distribution<int> credit_ms(-30, 30);
  for (int population = 0; population < 20; ++population) {
    player = CoordinatedPlayer("aug-credit");
    std::vector<std::uint32_t> weights(6);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 6; ++i) {
      sum += weights[i] = weight(random);
      player.add_runnable(TenantId{i}, weights[i]);
    }
    const TenantId favourite{someone(random)};
    std::vector<int> waited(6, 0);
    for (int tick = 0; tick < 3'000; ++tick) {
      player.host(favourite, true, 30ms);
      player.host(TenantId{someone(random)}, someone(random) > 2, credit_ms(random) * 1ms);
      const TenantId ran = player.run(10ms);
      for (std::uint32_t i = 0; i < 6; ++i) waited[i] = i == ran.value ? 0 : waited[i] + 1;
      // At most the rest of this round and all of the next: Xmin is at least 1.
      for (const int ticks : waited) ASSERT_LE(ticks, 2 * static_cast<int>(sum));
    }
    for (std::uint32_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(player.share(TenantId{i}), static_cast<double>(weights[i]) / sum, 0.01);
    }
  }
}

struct Cosched : testing::Test {
  CoordinatedPlayer player{"cosched"};
};

TEST_F(Cosched, OnlyScheduledTenantsRunWhileOneOfThemIsReady) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 100);
  EXPECT_EQ(player.ticks(20, kA), Ticks(20, kA)) << "without credits, and whatever B's";
}

TEST_F(Cosched, OfSeveralScheduledTenantsTheOneWithTheMostCreditsRuns) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 2);
  player.add_runnable(kC, 5);
  for (int tick = 0; tick < 300; ++tick) {
    player.host(kA, true);
    player.host(kB, true);
    player.run(10ms);
  }
  EXPECT_EQ(player.total[kC], 0ms);
  EXPECT_NEAR(player.share(kB), 2.0 / 3, 0.02);
}

TEST_F(Cosched, IfNoScheduledTenantIsReadyTheOneWithTheMostCreditsRuns) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 3);
  player.policy->add(kC, {}, player.now);
  player.ticks(400, kC);
  EXPECT_NEAR(player.share(kB), 0.75, 0.01);
}

TEST_F(Cosched, ATenantThatWaitedIsMadeUpForARoundAtMost) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  player.ticks(100, kA);
  for (int tick = 0; tick < 20; ++tick) {
    player.host(kA, true);
    player.host(kB, true);
    player.run(10ms);
  }
  EXPECT_LE(player.total[kB], 120ms);
  EXPECT_GE(player.total[kB], 100ms);
}

}  // namespace
}  // namespace fairgv::sched
