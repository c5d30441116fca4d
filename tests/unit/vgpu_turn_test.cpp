// One device's turn, with this test as the dispatcher and the device, and time as an argument.
#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "runtime/vgpu/turn_keeper.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;

class TurnTest : public ::testing::Test {
 protected:
  TurnState state() const { return static_cast<TurnState>(turn.state.load()); }
  Duration used() const { return Duration(turn.used_ns.load()); }

  void grant(Duration slice) {
    ASSERT_EQ(state(), TurnState::wanting);
    turn.slice_ns = static_cast<std::uint64_t>(slice.count());
    turn.state = static_cast<std::uint32_t>(TurnState::held);
  }
  /// The dispatcher asks for the turn, or takes it if it is not used.
  void ask_back() {
    if (state() == TurnState::busy) turn.state = static_cast<std::uint32_t>(TurnState::busy_asked);
    if (state() == TurnState::held) turn.state = static_cast<std::uint32_t>(TurnState::idle);
  }

  /// What there is to issue next: always the same kernel.
  static TurnKeeper::Next next(bool work) { return work ? TurnKeeper::Next(kKernel) : std::nullopt; }

  std::uint64_t may_issue(bool work = true) { return keeper.may_issue(next(work), now); }
  void settle(bool work) { keeper.settle(next(work), now); }
  void issue(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) keeper.issued(kKernel, kCpu, now);
  }
  void complete_after(Duration time, std::uint64_t count, bool more_work) {
    now += time;
    keeper.completed(count, count, now);
    settle(more_work);
  }
  /// Issues everything that is allowed, and lets each command take `each`.
  std::uint64_t run_allowed(Duration each, bool more_work = true) {
    std::uint64_t allowed = 0;
    for (; may_issue() > 0; ++allowed) issue(1);
    for (std::uint64_t i = 0; i < allowed; ++i) complete_after(each, 1, more_work || i + 1 < allowed);
    return allowed;
  }

  void run_one(Duration each, bool more_work) {
    ASSERT_GT(may_issue(), 0U);
    issue(1);
    complete_after(each, 1, more_work);
  }

  static constexpr sched::CommandKind kKernel = 7;
  static constexpr std::uint32_t kCpu = 3;

  session::DeviceTurn turn;
  TimePoint now{1h};
  int knocks = 0;
  TurnKeeper keeper{turn, TurnSettings{6ms, 5}, [this] { ++knocks; }};
};

TEST_F(TurnTest, WithoutATurnNothingMayBeIssuedAndOneKnockAsks) {
  EXPECT_EQ(may_issue(false), 0U);
  EXPECT_EQ(state(), TurnState::idle);
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(knocks, 1);
}

TEST_F(TurnTest, AGrantIsNoticedAsAChange) {
  may_issue();
  EXPECT_FALSE(keeper.changed());
  grant(0ns);
  EXPECT_TRUE(keeper.changed());
  EXPECT_GT(may_issue(), 0U);
  EXPECT_FALSE(keeper.changed());
  EXPECT_EQ(state(), TurnState::busy);
}

TEST_F(TurnTest, ALoneTenantKeepsItsTurnBetweenCommandsAndIsNeverSampled) {
  may_issue();
  grant(0ns);
  for (int i = 0; i < 100; ++i) {
    ASSERT_GT(may_issue(), 0U);
    EXPECT_EQ(state(), TurnState::busy);
    issue(1);
    complete_after(20us, 1, false);
    EXPECT_EQ(state(), TurnState::held);
    now += 1ms;
  }
  EXPECT_EQ(turn.samples, 0U);
  EXPECT_EQ(turn.syncs, 0U);
  EXPECT_EQ(turn.commands, 100U);
  EXPECT_EQ(turn.launches, 100U);
  EXPECT_EQ(used(), 100 * 20us) << "idle time between commands is not charged";
  EXPECT_EQ(knocks, 1);
}

// Section 3.3.2's measurements beside the device's own: from the first start to the last end of a run.
TEST_F(TurnTest, RunsWithTimestampsAreCrossChecked) {
  may_issue();
  grant(6ms);
  ASSERT_GT(may_issue(), 0U);
  issue(1);
  keeper.ran(1'000, 91'000);
  complete_after(100us, 1, true);
  EXPECT_EQ(turn.checked_ns, 100'000U);
  EXPECT_EQ(turn.by_events_ns, 90'000U);
  ASSERT_GT(may_issue(), 0U);
  issue(1);  // without timestamps
  complete_after(100us, 1, true);
  EXPECT_EQ(turn.checked_ns, 100'000U);
  for (int sample = 2; sample < 5; ++sample) {
    ASSERT_GT(may_issue(), 0U);
    issue(1);
    complete_after(100us, 1, true);
  }
  ASSERT_GT(may_issue(), 0U);
  issue(2);  // a free run; the first of the two has none
  keeper.ran(300'000, 400'000);
  complete_after(200us, 2, true);
  EXPECT_EQ(turn.checked_ns, 100'000U);
  ASSERT_GT(may_issue(), 0U);
  issue(2);
  keeper.ran(520'000, 600'000);
  keeper.ran(610'000, 700'000);
  complete_after(200us, 2, true);
  EXPECT_EQ(turn.checked_ns, 300'000U);
  EXPECT_EQ(turn.by_events_ns, 270'000U) << "the driver's own gap counts";
  EXPECT_EQ(used(), 900us) << "what is charged does not change";
}

struct StolenTurnTest : TurnTest {
  Duration stolen{0};  // since the keeper began to watch
  int looks = 0;
  TurnKeeper robbed{turn,
                    TurnSettings{6ms, 5, [this] { stolen = 0ms; },
                                 [this] {
                                   ++looks;
                                   return stolen;
                                 }},
                    [this] { ++knocks; }};

  void begin_turn() {
    robbed.may_issue(kKernel, now);
    grant(6ms);
  }
  /// One command that takes `time`, of which others steal `theft`.
  void one_command(Duration time, Duration theft) {
    ASSERT_GT(robbed.may_issue(kKernel, now), 0U);
    robbed.issued(kKernel, kCpu, now);
    now += time;
    stolen += theft;
    robbed.completed(1, 1, now);
    robbed.settle(kKernel, now);
  }
  void end_turn() {
    ask_back();
    robbed.settle(kKernel, now);
    ASSERT_EQ(state(), TurnState::wanting);
  }
  void one_turn(Duration time, Duration theft) {
    begin_turn();
    one_command(time, theft);
    end_turn();
  }
};

TEST_F(StolenTurnTest, WhatOthersTookIsNotCharged) {
  stolen = 1h;  // before the turn, when the device was somebody else's
  one_turn(4ms, 1ms);
  EXPECT_EQ(used(), 3ms);
  one_turn(5ms, 2ms);
  EXPECT_EQ(used(), 3ms + 3ms);
  one_turn(5ms, 0ms);
  EXPECT_EQ(used(), 3ms + 3ms + 5ms);
}

// Else it would be claimed from whoever is there when it is made good: 64 tenants that had crowded each other
// while they started had up to a seventh more than their share half a minute later.
TEST_F(StolenTurnTest, NothingIsChargedFirstAndMadeGoodByLaterTurns) {
  begin_turn();
  one_command(50ms, 45ms);
  EXPECT_EQ(used(), 5ms) << "as soon as the dispatcher can see it";
  end_turn();
  one_turn(6ms, 0ms);
  EXPECT_EQ(used(), 5ms + 6ms);
}

TEST_F(StolenTurnTest, NoMoreIsForgivenThanTheTurnTook) {
  one_turn(4ms, 1h);
  one_turn(6ms, 0ms);
  EXPECT_EQ(used(), 6ms);
}

TEST_F(StolenTurnTest, WhatIsStolenIsLookedAtAFewTimesInATurnHoweverShortTheCommands) {
  begin_turn();
  for (int i = 0; i < 50; ++i) one_command(100us, 10us);
  EXPECT_LE(looks, TurnKeeper::kStolenLooks);
  EXPECT_LE(used(), 50 * 90us);
  EXPECT_GE(used(), 50 * 90us - 6ms / TurnKeeper::kStolenLooks) << "and the dispatcher knows most of it";
  end_turn();
  EXPECT_EQ(used(), 50 * 90us);
}

struct CoscheduledTurnTest : TurnTest {
  ring::Coscheduling coscheduling;
  TurnKeeper interactive{turn, TurnSettings{6ms, 5, {}, {}, &coscheduling}, [this] { ++knocks; }};

  /// A lone turn of commands of 100 us, each of which the program waits for or does not.
  void run_commands(int commands, bool waits) {
    for (int i = 0; i < commands; ++i) {
      ASSERT_GT(interactive.may_issue(kKernel, now), 0U);
      interactive.issued(kKernel, kCpu, now);
      if (waits) coscheduling.synchronous_calls += 1;
      now += 100us;
      interactive.completed(1, 1, now);
      interactive.settle(std::nullopt, now);
    }
  }
};

TEST_F(CoscheduledTurnTest, AProgramThatWaitsForItsCommandsIsToBeWokenWhereItSentThem) {
  interactive.may_issue(kKernel, now);
  grant(0ns);
  run_commands(150, false);
  EXPECT_EQ(turn.interactive_cpu, 0U);
  EXPECT_FALSE(coscheduling.switched_in());
  run_commands(12, true);
  EXPECT_EQ(turn.interactive_cpu, kCpu + 1);
  EXPECT_TRUE(coscheduling.switched_in()) << "alone, so nobody else does it";
  run_commands(250, false);
  EXPECT_EQ(turn.interactive_cpu, 0U) << "another phase";
  EXPECT_FALSE(coscheduling.switched_in());
}

TEST_F(CoscheduledTurnTest, AnUnusedTurnThatIsTakenBackNoLongerCountsOrSpins) {
  interactive.may_issue(kKernel, now);
  grant(0ns);
  run_commands(12, true);
  ASSERT_TRUE(coscheduling.switched_in());
  ASSERT_EQ(state(), TurnState::held);
  ask_back();
  now += 1s;
  interactive.may_issue(kKernel, now);
  ASSERT_EQ(state(), TurnState::wanting);
  EXPECT_FALSE(coscheduling.switched_in()) << "somebody else has the device";
  grant(6ms);
  ASSERT_GT(interactive.may_issue(kKernel, now), 0U);
  interactive.issued(kKernel, kCpu, now);
  EXPECT_EQ(turn.interactive_cpu, kCpu + 1) << "the second without the device does not count";
}

TEST_F(CoscheduledTurnTest, GivingTheTurnBackSwitchesTheProgramOut) {
  interactive.may_issue(kKernel, now);
  grant(6ms);
  coscheduling.switch_in();
  coscheduling.synchronous_calls += 11;
  ASSERT_GT(interactive.may_issue(kKernel, now), 0U);
  interactive.issued(kKernel, kCpu, now);
  EXPECT_TRUE(coscheduling.switched_in());
  now += 7ms;
  interactive.completed(1, 1, now);
  interactive.settle(kKernel, now);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_FALSE(coscheduling.switched_in());
}

TEST_F(TurnTest, ALoneTenantHasAboutOneSliceInFlight) {
  may_issue();
  grant(0ns);
  EXPECT_EQ(may_issue(), TurnKeeper::kLeastInFlight) << "nothing is known yet";
  for (int i = 0; i < 50; ++i) {
    issue(may_issue());
    complete_after(100us, 1, true);
  }
  EXPECT_EQ(keeper.in_flight() + may_issue(), 60U);
  for (int i = 0; i < 50; ++i) {
    issue(may_issue());
    complete_after(1us, 1, true);
  }
  EXPECT_EQ(keeper.in_flight() + may_issue(), TurnKeeper::kMostInFlight);
  for (int i = 0; i < 50; ++i) {
    issue(may_issue());
    complete_after(50ms, 1, true);
  }
  EXPECT_EQ(may_issue(), 0U);
  while (keeper.in_flight() > 1) complete_after(50ms, 1, true);
  EXPECT_EQ(keeper.in_flight() + may_issue(), TurnKeeper::kLeastInFlight);
}

TEST_F(TurnTest, TheLoopIsWokenForALoneTenantWhenHalfOfWhatMayBeInFlightHasDrained) {
  for (const auto& [each, left] :
       {std::pair<Duration, std::uint64_t>{100us, 30}, {1ms, 3}, {2ms, 1}, {50ms, 1}}) {
    session::DeviceTurn lone;
    TurnKeeper one(lone, TurnSettings{6ms, 5}, [] {});
    one.may_issue(kKernel, now);
    lone.state = static_cast<std::uint32_t>(TurnState::held);
    for (int round = 0; round < 20; ++round) {
      for (std::uint64_t more = one.may_issue(kKernel, now); more > 0; --more) one.issued(kKernel, kCpu, now);
      EXPECT_FALSE(one.worth_issuing(kKernel)) << "of " << one.in_flight() << " nothing has drained";
      while (!one.worth_issuing(kKernel)) {
        ASSERT_GT(one.in_flight(), 0U);
        one.completed(1, 1, now += each);
      }
    }
    EXPECT_EQ(one.in_flight(), left) << "commands of " << each.count() << " ns";
  }
}

TEST_F(TurnTest, ATurnByTheClockHasSoManyCommandsInFlightHoweverLongTheyAre) {
  may_issue();
  turn.depth = 16;
  grant(0ns);
  EXPECT_EQ(may_issue(), 16U);
  for (const Duration each : {Duration(100us), Duration(1us), Duration(50ms)}) {
    for (int i = 0; i < 50; ++i) {
      issue(may_issue());
      complete_after(each, 1, true);
    }
    EXPECT_EQ(keeper.in_flight() + may_issue(), 16U);
  }
  ask_back();
  while (keeper.in_flight() > 0) complete_after(50ms, 1, true);
  EXPECT_EQ(state(), TurnState::wanting);
  turn.depth = 0;
  grant(0ns);
  EXPECT_EQ(may_issue(), TurnKeeper::kLeastInFlight) << "the next may be measured again";
}

TEST_F(TurnTest, ALoneTenantThatIsAskedIssuesNothingMoreDrainsAndGivesBack) {
  may_issue();
  grant(0ns);
  issue(may_issue());
  ask_back();
  EXPECT_TRUE(keeper.changed());
  EXPECT_EQ(may_issue(), 0U);
  complete_after(1ms, 1, true);
  EXPECT_EQ(state(), TurnState::busy_asked) << "one is still in flight";
  complete_after(1ms, 1, true);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(used(), 2ms);
  EXPECT_EQ(knocks, 2);
}

TEST_F(TurnTest, ALoneTenantThatIsAskedWithNothingLeftGoesIdle) {
  may_issue();
  grant(0ns);
  may_issue();
  issue(1);
  ask_back();
  complete_after(1ms, 1, false);
  EXPECT_EQ(state(), TurnState::idle);
  EXPECT_EQ(knocks, 2);
}

TEST_F(TurnTest, AnUnusedTurnThatWasTakenBackIsAskedForAgain) {
  may_issue();
  grant(0ns);
  may_issue();
  issue(1);
  complete_after(1ms, 1, false);
  ASSERT_EQ(state(), TurnState::held);
  ask_back();
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(knocks, 2);
}

TEST_F(TurnTest, AContendedTurnSamplesFiveRunsFreelyAndGivesBack) {
  may_issue();
  grant(6ms);
  for (int sample = 0; sample < 5; ++sample) {
    EXPECT_GT(may_issue(), 0U);
    issue(1);
    EXPECT_EQ(may_issue(), 0U) << "one by one";
    complete_after(100us, 1, true);
  }
  EXPECT_EQ(turn.samples, 5U);
  EXPECT_EQ(run_allowed(100us), 55U) << "what is left of 6 ms at 100 us each";
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(used(), 6ms);
  EXPECT_EQ(turn.syncs, 6U);
  EXPECT_EQ(turn.commands, 60U);
  EXPECT_EQ(knocks, 2);
  grant(6ms);
  EXPECT_EQ(run_allowed(100us), 60U) << "the kernel is known by now";
  EXPECT_EQ(turn.samples, 5U);
  EXPECT_EQ(turn.syncs, 7U);
}

TEST_F(TurnTest, AnUnknownKernelBehindKnownOnesWaitsForThemAndIsSampled) {
  may_issue();
  grant(6ms);
  for (int sample = 0; sample < 5; ++sample) run_one(100us, true);
  issue(1);
  EXPECT_TRUE(keeper.admits(kKernel));
  EXPECT_FALSE(keeper.admits(kKernel + 1));
  EXPECT_EQ(keeper.may_issue(kKernel + 1, now), 0U);
  complete_after(100us, 1, true);
  EXPECT_GT(keeper.may_issue(kKernel + 1, now), 0U);
}

TEST_F(TurnTest, AKernelThatDoesNotFitAnyMoreEndsTheTurn) {
  may_issue();
  grant(6ms);
  EXPECT_EQ(run_allowed(4ms), 1U);
  for (int sample = 1; sample < 5; ++sample) {
    run_allowed(4ms);
    if (state() == TurnState::wanting) grant(6ms);
  }
  EXPECT_EQ(run_allowed(4ms), 1U) << "known to take 4 of 6 ms";
  EXPECT_EQ(state(), TurnState::wanting) << "the next would not fit";
}

TEST_F(TurnTest, AContendedTurnEndsWithASampleThatFillsTheSlice) {
  may_issue();
  grant(6ms);
  EXPECT_EQ(run_allowed(20ms), 1U);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(used(), 20ms);
}

TEST_F(TurnTest, AContendedTurnWithNothingToIssueLingersShortlyAndThenGivesBack) {
  may_issue();
  grant(6ms);
  run_one(100us, false);
  ASSERT_EQ(state(), TurnState::busy);
  ASSERT_TRUE(keeper.lingers_until());
  EXPECT_EQ(*keeper.lingers_until(), now + TurnKeeper::kLongestLinger);
  now = *keeper.lingers_until();
  settle(false);
  EXPECT_EQ(state(), TurnState::idle);
  EXPECT_EQ(used(), 100us) << "the futile wait is not charged";
}

TEST_F(TurnTest, LingeringInVainGetsShorterAndALongOneIsTriedNowAndThen) {
  std::vector<Duration> waits;
  for (std::uint32_t turns = 0; turns < 4 * sched::ProbePace::kFirst; ++turns) {
    may_issue();
    grant(6ms);
    run_one(100us, false);
    ASSERT_TRUE(keeper.lingers_until());
    waits.push_back(*keeper.lingers_until() - now);
    now = *keeper.lingers_until();
    settle(false);
    ASSERT_EQ(state(), TurnState::idle);
    now += 20ms;  // longer than any wait that may pay
  }
  const std::size_t trial = sched::ProbePace::kFirst;
  const std::size_t next_trial = trial + 1 + 2 * sched::ProbePace::kFirst;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const bool tried = i == trial || i == next_trial;
    if (tried || i == 0) {
      EXPECT_EQ(waits[i], TurnKeeper::kLongestLinger) << i;
    } else {
      EXPECT_LT(waits[i], waits[0]) << i;
    }
  }
  EXPECT_EQ(waits[trial - 1], TurnKeeper::kShortestLinger);
  EXPECT_EQ(waits[trial + 1], TurnKeeper::kShortestLinger) << "the trial is all that it costs";
}

TEST_F(TurnTest, LingeringThatPaysFollowsThePausesAndTheyAreCharged) {
  may_issue();
  grant(6ms);
  Duration expected = 0us;
  for (int command = 0; command < 30; ++command) {
    if (command > 0) now += 15us;
    expected += command > 0 ? 65us : 50us;
    ASSERT_GT(may_issue(), 0U);
    issue(1);
    complete_after(50us, 1, false);
  }
  ASSERT_TRUE(keeper.lingers_until());
  EXPECT_EQ(*keeper.lingers_until(), now + 30us) << "twice the pause";
  now = *keeper.lingers_until();
  settle(false);
  EXPECT_EQ(used(), expected);
}

TEST_F(TurnTest, AShortPauseIsLearntEvenWhenTheTurnWasGoneByThen) {
  for (int turns = 0; turns < 12; ++turns) {
    may_issue();
    grant(6ms);
    run_one(100us, false);
    now = *keeper.lingers_until();
    settle(false);
    now += 20ms;
  }
  may_issue();
  grant(6ms);
  run_one(100us, false);
  const TimePoint ended = now;
  now = *keeper.lingers_until();
  ASSERT_LT(now - ended, 100us);
  settle(false);
  now = ended + 200us;
  may_issue();
  grant(6ms);
  run_one(100us, false);
  EXPECT_EQ(*keeper.lingers_until(), now + 400us);
}

TEST_F(TurnTest, AGrantThatArrivesWhileAnotherStateIsBeingSettledIsStillNoticed) {
  EXPECT_EQ(may_issue(), 0U);
  grant(0ns);
  settle(true);  // nothing to settle: there is no turn in use
  EXPECT_TRUE(keeper.changed());
  EXPECT_GT(may_issue(), 0U);
}

TEST_F(TurnTest, AnAnnouncedTurnIsWorthWaitingForAwakeUntilItComesOrForAWhile) {
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_FALSE(keeper.due_until());
  ++turn.due;
  EXPECT_TRUE(keeper.changed());
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_FALSE(keeper.changed());
  ASSERT_TRUE(keeper.due_until());
  EXPECT_EQ(*keeper.due_until(), now + 1200us);
  const TimePoint until = *keeper.due_until();
  now += 100us;
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_EQ(*keeper.due_until(), until) << "announced once";
  grant(6ms);
  EXPECT_GT(may_issue(), 0U);
  EXPECT_FALSE(keeper.due_until());
}

TEST_F(TurnTest, AnAnnouncedTurnIsWaitedForLongerAfterALongSlice) {
  EXPECT_EQ(may_issue(), 0U);
  grant(15ms);
  EXPECT_GT(may_issue(), 0U);
  run_one(15ms, true);
  ASSERT_EQ(state(), TurnState::wanting);
  ++turn.due;
  EXPECT_EQ(may_issue(), 0U);
  ASSERT_TRUE(keeper.due_until());
  EXPECT_EQ(*keeper.due_until(), now + 3ms);
}

TEST_F(TurnTest, AnAnnouncementThatComesTooLateIsOfNoUseLater) {
  EXPECT_EQ(may_issue(), 0U);
  ++turn.due;
  grant(6ms);
  EXPECT_GT(may_issue(), 0U);
  run_one(6ms, true);  // and gives back
  ASSERT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(may_issue(), 0U);
  EXPECT_FALSE(keeper.due_until());
}

TEST_F(TurnTest, AContendedTurnIsOverWhenItsPausesFillTheSlice) {
  may_issue();
  grant(6ms);
  int commands = 0;
  for (; state() != TurnState::wanting && commands < 1000; ++commands) {
    run_one(10us, true);
    now += 15us;
    if (state() == TurnState::busy) settle(true);
  }
  EXPECT_LT(used(), 6ms + 100us);
  EXPECT_GE(used(), 6ms - 600us);
}

TEST_F(TurnTest, AContendedTurnThatIsAskedGivesBackOnceDrained) {
  may_issue();
  grant(6ms);
  run_one(100us, true);
  ASSERT_GT(may_issue(), 0U);
  issue(1);
  ask_back();
  complete_after(100us, 1, true);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(used(), 200us);
}

TEST_F(TurnTest, AContendedTurnThatComesWhenTheWorkIsGoneIsGivenBackUncharged) {
  may_issue();
  grant(6ms);
  EXPECT_EQ(may_issue(false), 0U);
  EXPECT_EQ(state(), TurnState::busy);
  ASSERT_TRUE(keeper.lingers_until());
  now = *keeper.lingers_until();
  settle(false);
  EXPECT_EQ(state(), TurnState::idle);
  EXPECT_EQ(used(), 0ns);
}

TEST_F(TurnTest, UsedTimeGrowsWhileATurnGoesOn) {
  may_issue();
  grant(0ns);
  issue(may_issue());
  complete_after(3ms, 1, true);
  EXPECT_EQ(used(), 3ms) << "one is still in flight";
  complete_after(2ms, 1, false);
  EXPECT_EQ(used(), 5ms);
}

TEST_F(TurnTest, FromTurnToTurnUsedTimeAddsUp) {
  for (int i = 1; i <= 4; ++i) {
    may_issue();
    grant(6ms);
    run_allowed(20ms);
    EXPECT_EQ(used(), i * 20ms);
  }
}

}  // namespace
}  // namespace fairgv::vgpu
