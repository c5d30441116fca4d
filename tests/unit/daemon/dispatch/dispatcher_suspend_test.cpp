// Sessions that were paused: they get no turn, lose a turn that they have, and go on as after a sleep.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

struct SuspendedTurns : Turns {
  void suspend(std::uint32_t session, bool suspended = true) {
    dispatcher.set_suspended(SessionId{session}, suspended, now);
  }
  void go_on(std::uint32_t session) { suspend(session, false); }
  /// The daemon's thread wakes up whenever the dispatcher has asked for it.
  void pass(std::chrono::nanoseconds time) {
    const auto end = now + time;
    while (dispatcher.deadline() && *dispatcher.deadline() <= end) {
      now = std::max(now, *dispatcher.deadline());
      dispatcher.expire(now);
    }
    now = end;
  }
  std::uint64_t waits(std::uint32_t tenant) {
    return use_of(dispatcher, TenantId{tenant}, now).waits.count();
  }
  std::chrono::nanoseconds waited(std::uint32_t tenant) {
    return use_of(dispatcher, TenantId{tenant}, now).waits.sum();
  }

  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
};

TEST_F(SuspendedTurns, ThatWaitAreNotGranted) {
  want(1, a);
  a.begin();
  want(2, b);
  suspend(2);
  run(1, a, 6ms, false);
  pass(1s);
  EXPECT_EQ(b.state(), State::wanting);
  EXPECT_FALSE(holder_of(dispatcher));
  EXPECT_TRUE(dispatcher.device().line.empty());
  go_on(2);
  EXPECT_EQ(b.state(), State::held);
}

TEST_F(SuspendedTurns, ThatAreWantedWhileSuspendedAreNotGranted) {
  suspend(1);
  want(1, a);
  pass(1s);
  EXPECT_EQ(a.state(), State::wanting);
  look(1);  // one knock more
  EXPECT_EQ(a.state(), State::wanting);
  want(2, b);
  EXPECT_EQ(b.state(), State::held);
  EXPECT_EQ(b.slice(), 0ns) << "it is alone";
  go_on(1);
  EXPECT_EQ(b.state(), State::held) << "it is fresh";
  pass(2ms);
  EXPECT_EQ(a.state(), State::held);
}

TEST_F(SuspendedTurns, ThatAreNotUsedAreTakenBack) {
  want(1, a);
  a.begin();
  now += 5ms;
  a.use(5ms);
  EXPECT_TRUE(a.rest());
  suspend(1);
  pass(0ns);
  EXPECT_EQ(a.state(), State::idle);
  EXPECT_EQ(time_of(1), 5ms);
  a.want();
  look(1);
  EXPECT_EQ(a.state(), State::wanting);
  EXPECT_TRUE(dispatcher.take_broken().empty());
}

TEST_F(SuspendedTurns, ThatAreInUseAreAskedForAndEndAsTheirWorkersGiveThemBack) {
  want(1, a);
  a.begin();
  now += 50ms;
  suspend(1);
  pass(0ns);
  EXPECT_EQ(a.state(), State::busy_asked) << "though nobody else wants the device";
  pass(1s);
  EXPECT_TRUE(dispatcher.take_broken().empty());
  run(1, a, 10ms, true);
  EXPECT_EQ(a.state(), State::wanting);
  EXPECT_FALSE(holder_of(dispatcher));
  EXPECT_GE(time_of(1), 10ms) << "it pays for what it has used";
  pass(1s);
  EXPECT_EQ(a.state(), State::wanting);
  go_on(1);
  EXPECT_EQ(a.state(), State::held);
}

TEST_F(SuspendedTurns, ThatAreMeasuredAreAskedForBeforeTheirSliceIsOver) {
  take_over(a, b);
  suspend(2);
  pass(0ns);
  EXPECT_EQ(b.state(), State::busy_asked);
  run(2, b, 1ms, true);
  EXPECT_EQ(a.state(), State::held);
  EXPECT_EQ(b.state(), State::wanting);
}

TEST_F(SuspendedTurns, LetTheNextRunAsSoonAsTheyAreBack) {
  take_over(a, b);
  suspend(2);
  pass(0ns);
  run(2, b, 1ms, false);
  ASSERT_EQ(a.state(), State::held) << "the device is not kept for a suspended session";
}

TEST_F(SuspendedTurns, MayGoOnBeforeTheyHaveGivenTheirTurnBack) {
  want(1, a);
  a.begin();
  now += 5ms;
  suspend(1);
  pass(0ns);
  go_on(1);
  EXPECT_EQ(a.state(), State::busy_asked);
  run(1, a, 1ms, true);
  EXPECT_EQ(a.state(), State::held) << "the only session gets the turn again";
}

TEST_F(SuspendedTurns, AreNotWaitedFor) {
  want(1, a);
  a.begin();
  now += 1ms;
  want(2, b);  // asks for it
  now += 2ms;  // b has waited for 2 ms
  suspend(2);
  now += 100s;
  go_on(2);
  now += 3ms;
  run(1, a, 1ms, false);
  pass(1ms);  // the device may have been kept for a
  ASSERT_EQ(b.state(), State::held);
  EXPECT_EQ(waits(2), 1u);
  EXPECT_GE(waited(2), 6ms);
  EXPECT_LE(waited(2), 7ms);
}

TEST_F(SuspendedTurns, GiveNoCreditForTheTime) {
  take_over(a, b);
  run(2, b, 6ms, true);
  ASSERT_EQ(a.state(), State::held);
  suspend(2);
  for (int i = 0; i < 1'000; ++i) run(1, a, 6ms, true);
  a.begin();
  go_on(2);
  // From now on both get the same, to within a slice or two.
  const auto before_a = time_of(1);
  const auto before_b = time_of(2);
  for (int i = 0; i < 100; ++i) {
    if (holder_of(dispatcher) == SessionId{1}) {
      run(1, a, 6ms, true);
    } else {
      run(2, b, 6ms, true);
    }
  }
  EXPECT_NEAR(static_cast<double>((time_of(1) - before_a).count()),
              static_cast<double>((time_of(2) - before_b).count()), 3 * 6e6);
}

TEST_F(SuspendedTurns, LeaveTheTenantsOtherSessionsAlone) {
  FakeWorker& sibling = add(11, 1, 1);
  want(1, a);
  now += 5ms;
  suspend(1);
  pass(0ns);
  want(11, sibling);
  EXPECT_EQ(sibling.state(), State::held);
}

TEST_F(SuspendedTurns, LeaveOthersAlone) {
  want(1, a);
  want(2, b);
  run(1, a, 1ms, true);
  ASSERT_EQ(b.state(), State::held);
  b.begin();
  EXPECT_EQ(b.turn.company, 1U);
  suspend(1);
  EXPECT_EQ(b.turn.company, 0U) << "nobody else uses the device now";
  EXPECT_EQ(b.state(), State::busy);
  go_on(1);
  EXPECT_EQ(b.turn.company, 1U);
}

TEST_F(SuspendedTurns, ThatGoOnInTheirTurnAreCompanyAgain) {
  want(1, a);
  a.begin();
  now += 5ms;
  suspend(1);
  pass(0ns);
  go_on(1);
  want(2, b);
  run(1, a, 1ms, true);
  ASSERT_EQ(b.state(), State::held);
  EXPECT_EQ(b.turn.company, 1U);
}

TEST_F(SuspendedTurns, ThatAreKeptFromOthersBreakTheSession) {
  dispatcher.set_rules({dispatcher.device().rules.slices, 10s});
  want(1, a);
  a.begin();
  now += 5ms;
  suspend(1);
  pass(60s);
  EXPECT_TRUE(dispatcher.take_broken().empty()) << "nobody wanted the device meanwhile";
  want(2, b);
  pass(9'900ms);
  EXPECT_TRUE(dispatcher.take_broken().empty());
  pass(200ms);
  const auto broken = dispatcher.take_broken();
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_TRUE(broken[0].held_too_long);
  dispatcher.remove_session(SessionId{1}, now);
  EXPECT_EQ(b.state(), State::held);
}

TEST_F(SuspendedTurns, EndWithTheirSessions) {
  want(1, a);
  a.begin();
  suspend(1);
  suspend(1);
  want(2, b);
  dispatcher.remove_session(SessionId{1}, now);
  EXPECT_EQ(b.state(), State::held);
  suspend(1);  // unknown by now
  go_on(7);
}

TEST_F(SuspendedTurns, StaySuspendedUnderAnotherPolicy) {
  want(1, a);
  a.begin();
  want(2, b);
  suspend(2);
  dispatcher.set_policy(sched::make_policy("round-robin", 6ms), now);
  run(1, a, 6ms, false);
  pass(1s);
  EXPECT_EQ(b.state(), State::wanting);
  go_on(2);
  EXPECT_EQ(b.state(), State::held);
}

TEST_F(SuspendedTurns, StaySuspendedInTheNextDispatcher) {
  want(1, a);
  a.begin();
  want(2, b);
  Dispatcher next(sched::make_policy(sched::kDefaultPolicy, 6ms));
  for (std::uint32_t i : {1U, 2U}) {
    FakeWorker& worker = i == 1 ? a : b;
    next.add_tenant(TenantId{i}, {1}, now);
    next.adopt_session(SessionId{i}, TenantId{i}, {worker.turn, nullptr, worker.header}, 0, now);
    next.set_suspended(SessionId{i}, true, now);
  }
  next.resume(now);
  for (int i = 0; i < 10 && next.deadline(); ++i) next.expire(now = std::max(now, *next.deadline()));
  EXPECT_EQ(a.state(), State::busy_asked);
  a.give_back(true);
  next.look(SessionId{1}, now);
  EXPECT_FALSE(holder_of(next));
  EXPECT_EQ(b.state(), State::wanting);
  next.set_suspended(SessionId{2}, false, now);
  EXPECT_EQ(b.state(), State::held);
}

}  // namespace
}  // namespace fairgv::daemon
