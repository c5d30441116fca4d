// Fair queuing as FairGV publishes it, which the policies of Pegasus are compared with.
#include "sched/policies/fair_paper.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/policy_player.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

struct FairPaper : testing::Test {
  PolicyPlayer player{"fair-paper", 10ms};
  const FairQueue& queue() const { return static_cast<FairPaperPolicy&>(*player.policy).queue(); }
};

// FairGV, figure 4.
TEST_F(FairPaper, FollowsTheWorkedExampleOfFigureFour) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 2);
  for (const TenantId expected : {kA, kB, kB, kA, kB, kB, kA}) EXPECT_EQ(player.run(10ms), expected);
  player.policy->block(kA, player.now);
  for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(player.run(10ms), kB);
  player.policy->wake(kA, player.now += 5ms);
  EXPECT_EQ(queue().start_tag(kA), 35e6);
}

TEST_F(FairPaper, ATenantThatWakesGetsVirtualTimeHoweverShortItsPause) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 1);
  ASSERT_EQ(player.run(10ms), kA);
  player.policy->block(kB, player.now);
  player.policy->wake(kB, player.now);
  EXPECT_EQ(queue().start_tag(kB), 10e6) << "the turn that it was owed is lost";
}

TEST_F(FairPaper, ATenantThatNeedsMomentsPreemptsNobodyAndIsNotWaitedFor) {
  player.add_runnable(kA);
  EXPECT_EQ(player.run_and_pause(10us), std::nullopt);
  player.policy->block(kA, player.now);
  player.add_runnable(kB);
  player.policy->begin(kB, player.now);
  player.policy->wake(kA, player.now += 5ms);
  EXPECT_FALSE(player.policy->preempts(kA, kB, player.now));
  EXPECT_FALSE(player.policy->must_yield(kB, player.now));
}

TEST_F(FairPaper, ATurnWakesTheHostSideAndIsMeasured) {
  player.add_runnable(kA);
  const Turn turn = player.policy->next(player.now).turn.value();
  EXPECT_TRUE(turn.switch_in);
  EXPECT_EQ(turn.end, TurnEnd::measured);
  EXPECT_EQ(turn.slice, 10ms);
}

TEST_F(FairPaper, AFreeDeviceForgivesNothing) {
  player.add_runnable(kA);
  player.policy->add(kB, {}, player.now);
  player.run(10ms);
  player.policy->block(kA, player.now);
  player.policy->rest(1s, player.now += 1s);
  EXPECT_EQ(queue().virtual_time(), 10e6);
}

TEST_F(FairPaper, DebtSurvivesAChangeOfPolicy) {
  player.add_runnable(kA, 2);
  player.add_runnable(kB, 1);
  ASSERT_EQ(player.run(1s), kA);
  EXPECT_EQ(player.policy->budget(kA, player.now).ahead, 1s);
  EXPECT_EQ(player.policy->budget(kB, player.now).ahead, 0s);
  EXPECT_TRUE(player.policy->budget(kC, player.now).empty());
  FairPaperPolicy next(10ms);
  for (const TenantId id : {kA, kB}) next.add(id, {id == kA ? 2U : 1U}, player.now);
  for (const TenantId id : {kA, kB}) {
    next.restore(id, player.policy->budget(id, player.now), player.now);
  }
  for (const TenantId id : {kA, kB}) next.wake(id, player.now);
  EXPECT_EQ(next.queue().start_tag(kA) - next.queue().start_tag(kB), 0.5e9);
  EXPECT_FALSE(next.may_forget(kA));
  EXPECT_TRUE(next.may_forget(kB));
}

struct FairPaperIdle : testing::Test {
  PolicyPlayer player{"fair-paper-idle", 10ms};
};

TEST_F(FairPaperIdle, ATenantThatPausesHasTheDeviceUntilItsSliceHasPassed) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  const Time began = player.now;
  EXPECT_EQ(player.run_and_pause(2ms), began + 10ms);
  player.policy->wake(kA, player.now += 3ms);
  const Turn rest = player.policy->next(player.now).turn.value();
  EXPECT_EQ(rest.tenant, kA) << "though B's tag is smaller";
  EXPECT_EQ(rest.slice, 5ms);
  EXPECT_EQ(player.run_and_pause(5ms), std::nullopt);
  EXPECT_EQ(player.next(), kB);
}

TEST_F(FairPaperIdle, ATurnThatIsUsedUpIsOver) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  ASSERT_EQ(player.run(3ms), kA);  // another session of A wants it
  EXPECT_EQ(player.next(), kB);
}

TEST_F(FairPaperIdle, ATenantThatLeavesIsNotWaitedFor) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  ASSERT_TRUE(player.run_and_pause(2ms));
  player.policy->block(kA, player.now);
  EXPECT_EQ(player.next(), kB);
}

}  // namespace
}  // namespace fairgv::sched
