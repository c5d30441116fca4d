// The cost of turns by the daemon's own clock, against workers that report anything. In simulated time.
#include <gtest/gtest.h>

#include "runtime/daemon/turns/turn_cost.hpp"
#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

TEST(TurnCost, LeavesTheWayInAndOutOfATurnToTheReport) {
  EXPECT_EQ(least_cost(0ns), 0ns);
  EXPECT_EQ(least_cost(-1ns), 0ns);
  EXPECT_EQ(least_cost(80us), 70us);
  EXPECT_EQ(least_cost(15ms), 15ms - kHandOver);
}

TEST(TurnCost, ExcusesOnACpuDeviceWhatTheWorkersProcessDidNotRun) {
  EXPECT_EQ(least_cost(10ms, 2, 20ms), 10ms - kHandOver) << "it ran on both processors all the time";
  EXPECT_EQ(least_cost(10ms, 2, 14ms), 7ms);
  EXPECT_EQ(least_cost(10ms, 2, 1ms), 5ms) << "a session that keeps the device pays half of the time";
  EXPECT_EQ(least_cost(10ms, 2, std::nullopt), 10ms - kHandOver) << "the processor time is not known";
  EXPECT_EQ(least_cost(10ms, 0, 1ms), 10ms - kHandOver) << "the device has processors of its own";
}

struct TurnCosts : Turns {
  /// Both want the device; the second, which does not report its use, has the turn now.
  void forger_has_a_measured_turn() {
    want(1, honest);
    want(2, forger);
    honest.begin();
    run(1, honest, 6ms, true);
    ASSERT_EQ(forger.state(), State::held);
    forger.begin();
  }

  FakeWorker& honest = add(1);
  FakeWorker& forger = add(2);
};

TEST_F(TurnCosts, AnHonestReportIsWhatIsCharged) {
  forger_has_a_measured_turn();
  now += 6ms;
  forger.use(5'900us);
  forger.give_back(false);
  look(2);
  EXPECT_EQ(time_of(2), 5'900us);
}

TEST_F(TurnCosts, ATurnOfWhichNothingIsReportedCostsWhatItKeptFromOthers) {
  forger_has_a_measured_turn();
  now += 20ms;
  forger.give_back(false);
  look(2);
  EXPECT_EQ(time_of(2), least_cost(20ms));
}

TEST_F(TurnCosts, AForgerGetsNoMoreThanItsShare) {
  want(1, honest);
  want(2, forger);
  std::array<std::chrono::nanoseconds, 3> had{};
  const auto start = now;
  while (now - start < 10s) {
    const std::uint32_t holder = holder_of(dispatcher)->value;
    FakeWorker& worker = holder == 1 ? honest : forger;
    if (worker.state() == State::held) worker.begin();
    now += 6ms;
    had[holder] += 6ms;
    if (holder == 1) worker.use(6ms);
    worker.give_back(true);
    look(holder);
  }
  EXPECT_GT(had[1], had[2] * 88 / 100);
}

TEST_F(TurnCosts, TurnsThatAreGivenStraightBackCostTheHandOver) {
  want(1, honest);
  want(2, forger);
  for (int i = 0; i < 1'000; ++i) {
    const std::uint32_t holder = holder_of(dispatcher)->value;
    if (holder == 1) {
      run(1, honest, 6ms, true);
    } else {
      now += 40us;
      forger.begin();
      forger.give_back(true);
      look(2);
    }
  }
  const auto handed_over = static_cast<double>(time_of(2).count());
  EXPECT_GT(handed_over, 0);
  EXPECT_NEAR(handed_over / static_cast<double>(time_of(1).count()), 1, 0.05)
      << "equal weights, equal charges";
}

TEST_F(TurnCosts, ASessionThatEndsInTheMidstOfItsCommandIsChargedUpToItsEnd) {
  forger_has_a_measured_turn();
  now += 3s;
  dispatcher.remove_session(SessionId{2}, now);
  EXPECT_EQ(time_of(2), 3s);
  EXPECT_EQ(honest.state(), State::held);
}

TEST_F(TurnCosts, ALoneCommandThatIsBrokenOffIsChargedFromItsBeginning) {
  want(2, forger);
  forger.begin();
  now += 1h;  // held, with nothing under way
  forger.turn.under_way_since_ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
  now += 2s;
  dispatcher.remove_session(SessionId{2}, now);
  EXPECT_EQ(time_of(2), 2s);
}

TEST_F(TurnCosts, ALoneCommandThatIsBrokenOffIsChargedAtLeastSinceOthersWait) {
  want(2, forger);
  forger.begin();
  now += 1h;
  want(1, honest);
  now += 2s;
  dispatcher.remove_session(SessionId{2}, now);
  EXPECT_EQ(time_of(2), 2s);
}

TEST_F(TurnCosts, ABeginningThatCannotBeIsNotBelieved) {
  for (const std::uint64_t since : {std::uint64_t{1}, ~std::uint64_t{0}}) {
    SCOPED_TRACE(since);
    FakeWorker& liar = add(since == 1 ? 10 : 11, 1, since == 1 ? 10 : 11);
    const std::uint32_t id = since == 1 ? 10 : 11;
    want(id, liar);
    liar.begin();
    now += 1s;
    liar.turn.under_way_since_ns = since;
    dispatcher.remove_session(SessionId{id}, now);
    EXPECT_LE(time_of(id), 1s);
  }
}

TEST_F(TurnCosts, AnUnusedTurnThatIsTakenBackCostsWhatOthersWaited) {
  FakeWorker& third = add(3);
  want(1, honest);
  honest.begin();
  want(2, forger);
  want(3, third);
  run(1, honest, 1ms, false);
  ASSERT_EQ(forger.state(), State::held);
  now = *dispatcher.deadline();
  dispatcher.expire(now);
  ASSERT_EQ(forger.state(), State::idle);
  EXPECT_EQ(time_of(2), least_cost(Dispatcher::kPatience));
}

TEST_F(TurnCosts, AKilledLoopOfLongCommandsPaysForAllOfThem) {
  want(1, honest);
  for (std::uint32_t id = 100; id < 150; ++id) {
    FakeWorker& loop = add(id, 1, 2);
    want(id, loop);
    while (holder_of(dispatcher) != SessionId{id}) run(1, honest, 6ms, true);
    loop.begin();
    now += 100ms;
    dispatcher.remove_session(SessionId{id}, now);
  }
  const auto ratio = static_cast<double>(time_of(2).count()) / static_cast<double>(time_of(1).count());
  EXPECT_EQ(time_of(2), 5s);
  EXPECT_NEAR(ratio, 1, 0.1) << "the victim has its half";
}

TEST_F(TurnCosts, ATurnThatOutlivesItsDaemonIsChargedAsAWhole) {
  want(1, honest);
  want(2, forger);
  run(1, honest, 6ms, true);
  ASSERT_EQ(forger.state(), State::held);
  forger.begin();
  now += 3s;
  ASSERT_TRUE(dispatcher.device().turn);
  const TurnBooks books = dispatcher.device().turn->books();
  Dispatcher next(sched::make_policy(sched::kDefaultPolicy, 6ms));
  next.add_tenant(TenantId{1}, {1}, now);
  next.add_tenant(TenantId{2}, {1}, now);
  next.adopt_session(SessionId{1}, TenantId{1}, {honest.turn, nullptr, honest.header},
                     dispatcher.device().places.at(SessionId{1}).used_ns, now);
  next.adopt_session(SessionId{2}, TenantId{2}, {forger.turn, nullptr, forger.header},
                     dispatcher.device().places.at(SessionId{2}).used_ns, now, {}, books);
  next.resume(now);
  now += 1s;
  forger.give_back(false);
  next.look(SessionId{2}, now);
  EXPECT_EQ(next.device().charges.accounts().at(TenantId{2}).device_time, least_cost(4s));
}

// While a daemon is replaced, a worker that claims a turn is not looked at.
TEST_F(TurnCosts, AForgedTurnDoesNotTakeTheRealOneFromItsOwnerInTheNextDaemon) {
  want(1, honest);
  ASSERT_EQ(honest.state(), State::held);
  honest.begin();
  forger.turn.state = static_cast<std::uint32_t>(State::busy);
  ASSERT_TRUE(dispatcher.device().turn);
  const TurnBooks books = dispatcher.device().turn->books();
  for (const bool forger_first : {true, false}) {
    Dispatcher next(sched::make_policy(sched::kDefaultPolicy, 6ms));
    for (const std::uint32_t id : {1U, 2U}) next.add_tenant(TenantId{id}, {1}, now);
    const auto adopt_forger = [&] {
      next.adopt_session(SessionId{2}, TenantId{2}, {forger.turn, nullptr, forger.header}, 0, now);
    };
    if (forger_first) adopt_forger();
    next.adopt_session(SessionId{1}, TenantId{1}, {honest.turn, nullptr, honest.header}, 0, now, {}, books);
    if (!forger_first) adopt_forger();
    next.resume(now);
    EXPECT_EQ(holder_of(next), SessionId{1}) << forger_first;
    const auto broken = next.take_broken();
    ASSERT_EQ(broken.size(), 1U) << forger_first;
    EXPECT_EQ(broken[0].session, SessionId{2}) << forger_first;
  }
}

TEST_F(TurnCosts, SharesAreAmongThoseThatUseTheDevice) {
  dispatcher.set_attributes(TenantId{1}, {3}, now);
  const auto share = [&](std::uint32_t tenant) { return shares_of(dispatcher).at(TenantId{tenant}); };
  EXPECT_EQ(share(1), 1) << "nobody uses it";
  want(1, honest);
  EXPECT_EQ(share(2), 1) << "an unused turn keeps nobody from anything";
  honest.begin();
  EXPECT_EQ(share(1), 1);
  EXPECT_EQ(share(2), 0.25) << "the share that it would have if it used the device, too";
  honest.use(1ms);
  now += 1ms;
  honest.give_back(false);
  look(1);
  EXPECT_EQ(share(2), 0.25) << "it was used since the last look";
  dispatcher.charges().accounts().begin_activity();
  EXPECT_EQ(share(2), 1);
}

/// A CPU device of two processors; the workers' clocks are the test's.
struct CpuTurnCosts : TurnCosts {
  CpuTurnCosts() { dispatcher.charges().set_processors(2); }
  FakeWorker& add_timed(std::uint32_t id) {
    FakeWorker& worker = workers.emplace_back();
    dispatcher.add_tenant(TenantId{id}, {1}, now);
    dispatcher.add_session(SessionId{id}, TenantId{id}, {worker.turn, nullptr, worker.header}, now,
                           {[this, id] { return std::optional(ran[id]); }, {}});
    return worker;
  }
  /// The cost of a measured turn of 10 ms, in which the worker's process ran for so long and reported
  /// nothing.
  std::chrono::nanoseconds cost_of_a_silent_turn(std::chrono::nanoseconds processor_time) {
    FakeWorker& silent = add_timed(5);
    want(1, honest);
    want(5, silent);
    run(1, honest, 6ms, true);
    EXPECT_EQ(silent.state(), State::held);
    silent.begin();
    now += 10ms;
    ran[5] += processor_time;
    silent.give_back(false);
    look(5);
    return time_of(5);
  }

  std::map<std::uint32_t, std::chrono::nanoseconds> ran;
};

TEST_F(CpuTurnCosts, AForgerPaysForWhatItsProcessRan) {
  EXPECT_EQ(cost_of_a_silent_turn(20ms), least_cost(10ms));
}

TEST_F(CpuTurnCosts, TimeThatOthersTookIsExcused) {
  EXPECT_EQ(cost_of_a_silent_turn(14ms), 7ms);
  const ExcusedTime excused = dispatcher.charges().take_excused();
  // Other processes had 6 ms of processor time, as the system's clocks can confirm.
  EXPECT_EQ(excused.unfounded(20ms, 0ms, 2), 0);
}

TEST_F(CpuTurnCosts, ASleeperThatKeepsTheDeviceHasNoExcuseWhileNobodyElseRuns) {
  const auto cost = cost_of_a_silent_turn(0ms);
  EXPECT_EQ(cost, 5ms);
  const ExcusedTime excused = dispatcher.charges().take_excused();
  EXPECT_EQ(excused.unfounded(0ms, 0ms, 2), 1) << "no processor was busy";
  for (const auto& [tenant, time] : excused.by_tenant())
    dispatcher.charges().charge_later(tenant, time, now - 10ms, now);
  EXPECT_EQ(time_of(5), least_cost(10ms));
}

}  // namespace
}  // namespace fairgv::daemon
