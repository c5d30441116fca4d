// What every policy owes its caller, and what each of them promises besides.
#include <stdexcept>

#include "sched/policies/credit_hs.hpp"
#include "sched/policies/fair.hpp"
#include "sched/policies/strict_cosched.hpp"
#include "tests/unit/sched/policy_player.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr TenantId kA{1};
constexpr TenantId kB{2};
constexpr TenantId kC{3};

// -- every policy

struct EveryPolicy : testing::TestWithParam<PolicyInfo> {
  PolicyPlayer player{GetParam().name, 6ms};
};

TEST_P(EveryPolicy, IsFoundByItsName) {
  ASSERT_NE(player.policy, nullptr);
  EXPECT_EQ(find_policy(GetParam().name)->name, GetParam().name);
  EXPECT_NE(policy_names().find(GetParam().name), std::string::npos);
}

TEST_P(EveryPolicy, GivesTheDeviceToNobodyWhileNobodyIsRunnable) {
  EXPECT_FALSE(player.next());
  player.policy->add(kA, {1}, player.now);
  EXPECT_FALSE(player.next());
  player.policy->wake(kA, player.now);
  EXPECT_EQ(player.next(), kA);
  player.policy->block(kA, player.now);
  EXPECT_FALSE(player.next());
}

TEST_P(EveryPolicy, AnswersTheSameWhenAskedTwice) {
  for (const TenantId id : {kA, kB, kC}) player.add_runnable(id);
  for (int turn = 0; turn < 30; ++turn) {
    EXPECT_EQ(player.next(), player.next());
    player.run(5ms);
  }
}

TEST_P(EveryPolicy, LetsEverybodyRunWhoIsRunnable) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 2);
  player.add_runnable(kC, 3);
  for (int turn = 0; turn < 600; ++turn) player.run(6ms);
  for (const TenantId id : {kA, kB, kC}) {
    const double ideal = GetParam().weighted ? id.value / 6.0 : 1.0 / 3;
    EXPECT_NEAR(player.share(id), ideal, 0.01) << "tenant " << id.value;
  }
}

TEST_P(EveryPolicy, IgnoresEventsOfUnknownTenants) {
  player.add_runnable(kA);
  player.policy->wake(kB, player.now);
  player.policy->charge(kB, 1s, player.now);
  player.policy->begin(kB, player.now);
  player.policy->end(kB, player.now);
  EXPECT_FALSE(player.policy->preempts(kB, kC, player.now));
  player.policy->block(kB, player.now);
  player.policy->set_attributes(kB, {7}, player.now);
  player.policy->remove(kB, player.now);
  EXPECT_TRUE(player.policy->may_forget(kB));
  EXPECT_EQ(player.run(1ms), kA);
}

TEST_P(EveryPolicy, ForgetsWhoIsRemovedWithItsTurn) {
  player.add_runnable(kA);
  const TenantId first = *player.next();
  player.add_runnable(kB);
  player.policy->begin(first, player.now);
  player.policy->remove(first, player.now);
  player.policy->end(first, player.now);
  player.now += 6ms;  // fixed turns pass
  EXPECT_EQ(player.next(), kB);
}

TEST_P(EveryPolicy, RefusesWhatItsCallerShouldHaveChecked) {
  player.policy->add(kA, {1}, player.now);
  EXPECT_THROW(player.policy->add(kA, {1}, player.now), std::invalid_argument);
  EXPECT_THROW(player.policy->add(kB, {0}, player.now), std::invalid_argument);
  EXPECT_THROW(player.policy->set_attributes(kA, {kMaxWeight + 1}, player.now), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(All, EveryPolicy, testing::ValuesIn(all_policies().begin(), all_policies().end()),
                         [](const auto& test) {
                           std::string name(test.param.name);
                           std::erase(name, '-');
                           return name;
                         });

TEST(PolicyRegistry, KnowsNoOtherNames) {
  EXPECT_EQ(find_policy("lottery"), nullptr);
  EXPECT_EQ(make_policy("lottery", 6ms), nullptr);
  EXPECT_EQ(all_policies().front().name, kDefaultPolicy);
}

// -- fair

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

TEST_F(Fair, KeepsTheDeviceForAShortPauseOfWhoIsNextAnyway) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 3);
  ASSERT_EQ(player.run(6ms), kA);
  const auto kept = player.run_and_pause(3ms);
  EXPECT_EQ(kept, player.now + FairPolicy::kLongestAnticipation);
  EXPECT_EQ(player.next(), kB);
}

TEST_F(Fair, KeepsNothingForWhoHasHadItsShare) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  EXPECT_EQ(player.run_and_pause(6ms), std::nullopt);
}

TEST_F(Fair, KeepsNothingWhileNobodyElseWaits) {
  player.add_runnable(kA);
  EXPECT_EQ(player.run_and_pause(6ms), std::nullopt);
}

TEST_F(Fair, LearnsWhosePausesAreTooLongToWaitFor) {
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

TEST_F(Fair, TriesNowAndThenWhetherLongPausesHaveBecomeShort) {
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

TEST_F(Fair, ChargesWhoComesBackForTheTimeThatTheDeviceWasKept) {
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
  EXPECT_EQ(player.next(), kB) << "it has its claim yet";
  EXPECT_EQ(queue.start_tag(kB), 140e6) << "and pays for the time";
  while (player.next() == kB) player.run(10ms);
  EXPECT_GE(player.total[kB], 850ms);
}

TEST_F(Fair, KeepsTheDeviceForAStakeMoreRarelyWhereThatIsInVain) {
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

TEST_F(Fair, KeepsTheDeviceForNoStakeBesideOneOfUsualTurns) {
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

TEST_F(Fair, WhoWakesForAMomentRunsNextHoweverManyWaitAndWhenever) {
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

TEST_F(Fair, WhoWakesForAMomentHasATurnAskedForWhenAQuarterOfItIsOver) {
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

TEST_F(Fair, WhoWakesAfterAWholeTurnHasNoTurnAskedFor) {
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

TEST_F(Fair, WhoWakesForMoreThanAMomentWaitsForThoseWhoHaveHadLess) {
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

TEST_F(Fair, MayForgetOnlyWhoOwesNothing) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  ASSERT_EQ(player.run(1s), kA);
  player.policy->block(kA, player.now);
  EXPECT_FALSE(player.policy->may_forget(kA));
  player.run(1s);
  EXPECT_TRUE(player.policy->may_forget(kA));
}

// -- fifo and round-robin

TEST(FifoPolicy, SharesFollowTheLengthOfTheCommands) {
  PolicyPlayer player("fifo", 6ms);
  player.add_runnable(kA, 100);
  player.add_runnable(kB, 1);
  for (int turn = 0; turn < 200; ++turn) player.run(player.next() == kA ? 1ms : 3ms);
  EXPECT_NEAR(player.share(kB), 0.75, 0.01);
}

TEST(FifoPolicy, WhoComesLaterRunsLater) {
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

TEST(RoundRobinPolicy, WhoComesBackGoesToTheBack) {
  PolicyPlayer player("round-robin", 6ms);
  for (const TenantId id : {kA, kB, kC}) player.add_runnable(id);
  EXPECT_EQ(player.run_and_pause(1ms), std::nullopt);
  player.policy->block(kA, player.now);
  player.policy->wake(kA, player.now);
  for (const TenantId expected : {kB, kC, kA}) EXPECT_EQ(player.run(6ms), expected);
}

// -- credit

TEST(CreditPolicy, NobodyPaysForMoreThanASlice) {
  PolicyPlayer player("credit-poll", 6ms);
  player.add_runnable(kA);
  player.add_runnable(kB);
  // A's queued kernels drain for 6 ms after each of its turns: equal credits, unequal time.
  for (int turn = 0; turn < 400; ++turn) player.run(player.next() == kA ? 12ms : 6ms);
  EXPECT_NEAR(player.share(kA), 2.0 / 3, 0.02);
}

TEST(CreditPolicy, WhoHasCreditsGoesBeforeWhoHasOverdrawn) {
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

TEST(CreditPollPolicy, KeepsTheDeviceForWhoPollsUntilItsSliceIsOverAndLetsItPay) {
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
  EXPECT_EQ(player.policy->next(player.now).turn->end, TurnEnd::measured);
  player.policy->block(kA, player.now);
  EXPECT_EQ(static_cast<CreditPolicy&>(*player.policy).credit(kA), -1ms);  // for what it had
}

// -- strict-cosched

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

TEST_F(StrictCosched, WhoComesBackHasTheRestOfItsTurn) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  ASSERT_TRUE(player.run_and_pause(1ms));
  player.policy->block(kA, player.now);
  player.now += 2ms;
  player.policy->wake(kA, player.now);
  ASSERT_EQ(player.next(), kA);
  EXPECT_EQ(player.policy->next(player.now).turn->slice, 3ms);
}

TEST_F(StrictCosched, WhoComputesOnTheHostKeepsItsTurnsForAWhile) {
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
    EXPECT_LE(player.now, blocked + StrictCoschedPolicy::kHostWork);
    player.now = *decision.ask_again;
  }
  EXPECT_NEAR(idle_turns, 100 / 12, 1);  // every other turn of the first 100 ms
}

}  // namespace
}  // namespace fairgv::sched
