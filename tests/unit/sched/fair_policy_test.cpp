// The fair policy: anticipation, stakes, credit and lead on top of start-time fair queuing.
#include <gtest/gtest.h>

#include <optional>

#include "sched/policies/fair.hpp"
#include "tests/unit/sched/policy_player.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

// FairGV, figure 4: weights 1 and 2, slices of 10 ms. Tenant 1 blocks at 70 and is runnable again at 105.
TEST(FairPolicy, FollowsTheWorkedExampleOfFigureFour) {
  PolicyPlayer player("fair", 10ms);
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 2);
  for (const TenantId expected : {kA, kB, kB, kA, kB, kB, kA}) EXPECT_EQ(player.run(10ms), expected);
  player.policy->block(kA, player.now);
  for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(player.run(10ms), kB);
  ASSERT_EQ(player.next(), kB);  // runs from 100
  player.policy->begin(kB, player.now);
  player.policy->wake(kA, player.now += 5ms);
  player.policy->charge(kB, 10ms, player.now += 5ms);
  player.policy->end(kB, player.now);
  const FairQueue& queue = static_cast<FairPolicy&>(*player.policy).queue();
  EXPECT_EQ(queue.start_tag(kA), 35e6);
  EXPECT_EQ(queue.start_tag(kB), 40e6);
  EXPECT_EQ(player.next(), kA);
}

struct Fair : testing::Test {
  PolicyPlayer player{"fair", 6ms};
};

TEST_F(Fair, KeepsTheDeviceForAShortPauseOfTheTenantThatIsNextAnyway) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 3);
  ASSERT_EQ(player.run(6ms), kA);
  const auto kept = player.run_and_pause(3ms);
  EXPECT_EQ(kept, player.now + FairPolicy::kLongestAnticipation);
  EXPECT_EQ(player.next(), kB);
}

TEST_F(Fair, KeepsNothingForATenantThatHasHadItsShare) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  EXPECT_EQ(player.run_and_pause(6ms), std::nullopt);
}

TEST_F(Fair, KeepsNothingWhileNobodyElseWaits) {
  player.add_runnable(kA);
  EXPECT_EQ(player.run_and_pause(6ms), std::nullopt);
}

TEST_F(Fair, LearnsWhichTenantsPausesAreTooLongToWaitFor) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 1'000);
  ASSERT_EQ(player.run(6ms), kA);
  for (int i = 0; i < 8; ++i) {
    player.run_and_pause(1ms);
    player.policy->block(kB, player.now);
    player.now += 5ms;
    player.policy->wake(kB, player.now);
  }
  EXPECT_EQ(player.run_and_pause(1ms), std::nullopt);
}

TEST_F(Fair, LearnsNothingFromLongPausesForWhichTheDeviceWasNotKept) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 1);
  for (int i = 0; i < 8; ++i) {
    const TenantId paused = player.run(6ms);
    EXPECT_EQ(player.policy->pause(paused, player.now), std::nullopt) << "the other is next";
    player.policy->block(paused, player.now);
    player.run(6ms);
    player.policy->wake(paused, player.now);
  }
  player.run(3ms);
  EXPECT_TRUE(player.run_and_pause(1ms)) << "and still is after that";
}

TEST_F(Fair, ProbesFromTimeToTimeWhetherLongPausesHaveBecomeShort) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 1'000);
  ASSERT_EQ(player.run(6ms), kA);
  unsigned kept = 0;
  for (unsigned i = 0; i < 2 + (ProbePace::kFirst + 1) + (2 * ProbePace::kFirst + 1); ++i) {
    if (player.run_and_pause(1ms)) ++kept;
    player.policy->block(kB, player.now);
    player.now += 5ms;
    player.policy->wake(kB, player.now);
  }
  EXPECT_EQ(kept, 2U + 2U) << "until it was learnt, and the probes";
}

TEST_F(Fair, ChargesATenantThatComesBackForTheTimeTheDeviceWasKept) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 1);
  const FairQueue& queue = static_cast<FairPolicy&>(*player.policy).queue();
  ASSERT_EQ(player.run(6ms), kA);
  ASSERT_TRUE(player.run_and_pause(3ms));
  player.policy->wake(kB, player.now += 200us);
  EXPECT_EQ(queue.start_tag(kB), 3.2e6);
  ASSERT_TRUE(player.run_and_pause(1ms));
  player.policy->block(kB, player.now += FairPolicy::kLongestAnticipation);
  player.policy->wake(kB, player.now);
  EXPECT_EQ(queue.start_tag(kB), 4.2e6) << "in vain, it is nobody's";
}

TEST_F(Fair, KeepsTheDeviceLongerWhereThePauseWouldCostALongTurn) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  const FairQueue& queue = static_cast<FairPolicy&>(*player.policy).queue();
  ASSERT_EQ(player.run(1s), kA) << "a kernel that cannot be cut";
  const auto kept = player.run_and_pause(100ms);
  ASSERT_TRUE(kept);
  EXPECT_GT(*kept, player.now + 50ms);
  EXPECT_LE(*kept, player.now + 900ms / FairPolicy::kStakeFraction);
  player.policy->wake(kB, player.now += 40ms);
  EXPECT_EQ(player.next(), kB) << "B still has its claim";
  EXPECT_EQ(queue.start_tag(kB), 140e6) << "and pays for the time";
  while (player.next() == kB) player.run(10ms);
  EXPECT_GE(player.total[kB], 850ms);
}

TEST_F(Fair, KeepsTheDeviceForAStakeLessOftenIfThatWasInVain) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  constexpr unsigned kRounds = 200;
  unsigned kept = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    ASSERT_EQ(player.run(1s), kA);
    const auto until = player.run_and_pause(1ms);
    if (until && *until > player.now + FairPolicy::kLongestAnticipation) {
      ++kept;
      player.now = *until;
    }
    player.policy->block(kB, player.now);
    player.policy->begin(kA, player.now);
    player.policy->wake(kB, player.now += 100ms);
  }
  EXPECT_GE(kept, ProbePace::kFirst);
  EXPECT_LE(kept, 2 * ProbePace::kFirst + kRounds / ProbePace::kFirst);
}

TEST_F(Fair, KeepsTheDeviceForNoStakeIfTheOtherHasUsualTurns) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 1'000);
  ASSERT_EQ(player.run(6ms), kA);
  const auto kept = player.run_and_pause(1ms);
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, player.now + FairPolicy::kLongestAnticipation)
      << "it is the weights that let it claim more";
}

TEST_F(Fair, GivesAKeptDeviceToANewcomerWithASmallerTag) {
  player.add_runnable(kC, 1);
  player.policy->block(kC, player.now);  // for a moment: it comes back with its start tag
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 3);
  ASSERT_EQ(player.run(3ms), kA);
  EXPECT_FALSE(player.policy->preempts(kA, kB, player.now)) << "a turn in progress goes on";
  ASSERT_TRUE(player.run_and_pause(3ms));
  player.policy->wake(kC, player.now);
  EXPECT_TRUE(player.policy->preempts(kC, kB, player.now));
  EXPECT_FALSE(player.policy->preempts(kA, kB, player.now));
}

TEST_F(Fair, ATenantThatNeedsOnlyAMomentRunsNextHoweverManyWait) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  for (int turn = 0; turn < 2; ++turn) player.run(6ms);
  player.policy->add(kC, {}, player.now);
  for (int moment = 0; moment < 20; ++moment) {
    player.policy->begin(*player.next(), player.now);
    player.policy->charge(*player.next(), 5ms, player.now += 5ms);  // as the dispatcher does before it wakes
    player.policy->wake(kC, player.now);
    ASSERT_EQ(player.run(100us), kC) << moment;
    player.policy->block(kC, player.now);
    player.now += 7ms;
  }
}

TEST_F(Fair, ATenantThatNeedsOnlyAMomentPreemptsATurnAfterAQuarterOfIt) {
  player.add_runnable(kC);
  ASSERT_EQ(player.run(100us), kC);
  player.policy->block(kC, player.now);
  player.add_runnable(kA);
  player.add_runnable(kB);
  for (int turn = 0; turn < 2; ++turn) player.run(6ms);
  const TenantId holder = *player.next();
  const Time began = player.now;
  player.policy->begin(holder, began);
  player.policy->wake(kC, player.now += 100us);
  EXPECT_EQ(player.policy->preempts(kC, holder, player.now), began + 1500us);
  EXPECT_FALSE(player.policy->preempts(holder == kA ? kB : kA, holder, player.now)) << "it is not next";
  EXPECT_FALSE(player.policy->preempts(kC, kC, player.now)) << "another session of its own";
}

TEST_F(Fair, ATenantThatWakesAfterAWholeTurnPreemptsNothing) {
  for (const TenantId id : {kA, kB, kC}) player.add_runnable(id);
  ASSERT_EQ(player.run(6ms), kA);
  ASSERT_EQ(player.run(6ms), kB);
  ASSERT_EQ(player.run(7ms), kC);
  player.policy->block(kA, player.now);
  ASSERT_EQ(player.next(), kB);
  player.policy->begin(kB, player.now);
  player.policy->charge(kB, 1ms, player.now += 1ms);
  player.policy->wake(kA, player.now);
  ASSERT_EQ(player.next(), kA) << "it is next";
  EXPECT_FALSE(player.policy->preempts(kA, kB, player.now)) << "and waits";
}

TEST_F(Fair, ATenantThatNeedsMoreThanAMomentWaitsForTenantsWithSmallerTags) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  player.add_runnable(kC);
  ASSERT_EQ(player.run(6ms), kA);
  ASSERT_EQ(player.run(6ms), kB);
  player.policy->block(kA, player.now);
  player.policy->wake(kA, player.now);
  EXPECT_EQ(player.run(6ms), kC) << "A has had a slice more";
  EXPECT_EQ(player.run(6ms), kB) << "A has the same tag, and wakes after a whole turn";
}

TEST_F(Fair, MayForgetOnlyTenantsThatOweNothing) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  ASSERT_EQ(player.run(1s), kA);
  player.policy->block(kA, player.now);
  EXPECT_FALSE(player.policy->may_forget(kA));
  player.run(1s);
  EXPECT_TRUE(player.policy->may_forget(kA));
}

}  // namespace
}  // namespace fairgv::sched
