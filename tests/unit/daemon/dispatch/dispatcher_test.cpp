// The dispatcher's turns in simulated time: newcomers, unused turns, deaths, and the length of turns.
#include <gtest/gtest.h>

#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

TEST_F(Turns, ALoneTenantKeepsTheTurnBetweenItsCommands) {
  FakeWorker& a = add(1);
  want(1, a);
  for (int i = 0; i < 1'000; ++i) {
    a.begin();
    now += 10ms;
    a.use(10ms);
    EXPECT_TRUE(a.rest());
    look(1);
    EXPECT_EQ(a.state(), State::held);
  }
  EXPECT_EQ(time_of(1), 0ns);  // nobody had to know
  dispatcher.charge_holder(now);
  EXPECT_EQ(time_of(1), 10s);
}

TEST_F(Turns, ANewcomerTakesAnUnusedTurn) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  a.use(1ms);
  EXPECT_TRUE(a.rest());
  now += 1ms;
  want(2, b);
  EXPECT_EQ(a.state(), State::idle);
  EXPECT_EQ(b.state(), State::held);
  EXPECT_EQ(b.slice(), 0ns);  // now it is alone
  EXPECT_EQ(time_of(1), 1ms);
}

TEST_F(Turns, ANewcomerAsksForATurnInUse) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  now += 2ms;
  want(2, b);
  EXPECT_EQ(a.state(), State::busy_asked);
  EXPECT_EQ(b.state(), State::wanting);
  a.use(2ms);
  a.give_back(true);
  look(1);
  EXPECT_EQ(b.state(), State::held);
  EXPECT_EQ(b.slice(), 6ms);
  EXPECT_EQ(a.state(), State::wanting);
}

TEST_F(Turns, WorkersHearWhetherOthersUseTheDevice) {
  FakeWorker& a = add(1);
  FakeWorker& sibling = add(11, 1, 1);
  FakeWorker& b = add(2);
  want(1, a);
  EXPECT_EQ(a.turn.company, 0U);
  run(1, a, 1ms, false);
  want(11, sibling);
  EXPECT_EQ(sibling.turn.company, 1U) << "a session of the same tenant waits for its launches, too";
  run(11, sibling, 1ms, false);
  dispatcher.remove_session(SessionId{11}, now);
  want(2, b);
  EXPECT_EQ(b.turn.company, 1U);
  run(2, b, 1ms, false);
  want(1, a);
  EXPECT_EQ(a.turn.company, 1U) << "the other may want it again at any time";
  dispatcher.remove_session(SessionId{2}, now);
  EXPECT_EQ(a.turn.company, 0U) << "told although it has the turn already";
}

TEST_F(Turns, AFreshTurnIsLeftToItsWorkerForAMoment) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  now += 10us;
  want(2, b);
  EXPECT_EQ(a.state(), State::held);
  ASSERT_TRUE(dispatcher.deadline());
  EXPECT_LE(*dispatcher.deadline() - now, 1ms);
  now = *dispatcher.deadline();
  dispatcher.expire(now);
  EXPECT_EQ(a.state(), State::idle);
  EXPECT_EQ(b.state(), State::held);
}

TEST_F(Turns, AFreshTurnThatItsWorkerHasBegunToUseIsAskedFor) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  want(2, b);
  a.begin();
  now = *dispatcher.deadline();
  dispatcher.expire(now);
  EXPECT_EQ(a.state(), State::busy_asked);
}

TEST_F(Turns, AWorkerThatNeverUsesItsTurnDoesNotKeepTheOthersWaiting) {
  FakeWorker& a = add(1);
  FakeWorker& stopped = add(2);
  FakeWorker& c = add(3);
  want(1, a);
  a.begin();
  want(2, stopped);
  want(3, c);
  run(1, a, 1ms, false);
  ASSERT_EQ(stopped.state(), State::held);
  ASSERT_TRUE(dispatcher.deadline());
  now = *dispatcher.deadline();
  dispatcher.expire(now);
  EXPECT_EQ(stopped.state(), State::idle);
  EXPECT_EQ(c.state(), State::held);
}

TEST_F(Turns, AnOverrunIsNotInterrupted) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  FakeWorker& c = add(3);
  want(1, a);
  a.begin();
  want(2, b);
  want(3, c);
  run(1, a, 1ms, false);
  b.begin();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(dispatcher.deadline());
    now = *dispatcher.deadline();
    dispatcher.expire(now);
    EXPECT_EQ(b.state(), State::busy);
  }
}

TEST_F(Turns, SessionsOfOneTenantAloneTakeTurnsOfLimitedLength) {
  FakeWorker& first = add(1, 1, 10);
  FakeWorker& second = add(2, 1, 10);
  want(1, first);
  first.begin();
  want(2, second);
  EXPECT_EQ(first.state(), State::busy_asked);
  first.give_back(true);
  look(1);
  EXPECT_EQ(second.state(), State::held);
  EXPECT_EQ(second.slice(), 6ms);
}

TEST_F(Turns, TheLastTenantThatWantsTheDeviceHasItAlone) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  want(2, b);
  run(1, a, 1ms, true);
  ASSERT_EQ(b.slice(), 6ms);
  run(2, b, 1ms, false);
  EXPECT_EQ(a.state(), State::held);
  EXPECT_EQ(a.slice(), 0ns);
  EXPECT_EQ(dispatcher.deadline(), std::nullopt);
}

TEST_F(Turns, TheTurnOfAHolderThatDiesGoesToTheNextAtOnce) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  want(2, b);
  now += 3ms;
  a.use(3ms);
  dispatcher.remove_session(SessionId{1}, now);
  EXPECT_EQ(b.state(), State::held);
  EXPECT_EQ(time_of(1), 3ms);
  look(1);  // a knock from before its death
  EXPECT_EQ(holder_of(dispatcher), SessionId{2});
}

TEST_F(Turns, TheDeathOfAWaitingSessionChangesNothing) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  FakeWorker& c = add(3);
  want(1, a);
  a.begin();
  want(2, b);
  want(3, c);
  dispatcher.remove_session(SessionId{2}, now);
  EXPECT_EQ(holder_of(dispatcher), SessionId{1});
  run(1, a, 1ms, false);
  EXPECT_EQ(c.state(), State::held);
}

TEST_F(Turns, SpuriousKnocksDoNoHarm) {
  FakeWorker& a = add(1);
  look(1);
  look(77);
  want(1, a);
  look(1);
  a.begin();
  look(1);
  EXPECT_EQ(a.state(), State::busy);
  EXPECT_TRUE(dispatcher.take_broken().empty());
}

TEST_F(Turns, TurnsAreShorterTheMoreTenantsWantTheDevice) {
  dispatcher.set_rules({.slices = {6ms, 15ms, 30ms}});
  EXPECT_EQ(slice_of(dispatcher), 15ms);
  for (std::uint32_t tenant = 1; tenant <= 3; ++tenant) want(tenant, add(tenant));
  run(1, workers[0], 1ms, true);
  ASSERT_EQ(workers[1].state(), State::held);
  EXPECT_EQ(workers[1].slice(), 10ms);
  EXPECT_EQ(slice_of(dispatcher), 10ms);
  run(2, workers[1], 1ms, false);
  ASSERT_EQ(workers[2].state(), State::held);
  EXPECT_EQ(workers[2].slice(), 15ms) << "two still want it";
  EXPECT_EQ(slice_of(dispatcher), 15ms);
  dispatcher.remove_session(SessionId{1}, now);
  for (std::uint32_t tenant = 11; tenant <= 20; ++tenant) want(tenant, add(tenant));
  run(3, workers[2], 15ms, false);
  ASSERT_EQ(workers[3].state(), State::held);
  EXPECT_EQ(workers[3].slice(), 6ms);
}

TEST_F(Turns, ManySessionsOfATenantDoNotShortenTurns) {
  dispatcher.set_rules({.slices = {6ms, 15ms, 30ms}});
  FakeWorker& other = add(1);
  want(1, other);
  for (std::uint32_t session = 2; session <= 9; ++session) want(session, add(session, 1, 2));
  run(1, other, 15ms, true);
  ASSERT_EQ(workers[1].state(), State::held);
  EXPECT_EQ(workers[1].slice(), 15ms);
  EXPECT_EQ(slice_of(dispatcher), 15ms) << "the one that has the turn counts once, with those that wait";
}

}  // namespace
}  // namespace fairgv::daemon
