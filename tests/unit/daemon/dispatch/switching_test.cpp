// Wake-ups for a turn: interactive programs wake with it, the worker that is likely to be next wakes ahead of
// it.
#include <gtest/gtest.h>

#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

// GPU-centric coscheduling (FairGV, section 3.2.3, algorithm 3).
TEST_F(Turns, AnInteractiveSessionIsSwitchedInWithItsTurn) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  b.turn.interactive_cpu = 1;
  want(1, a);
  a.begin();
  want(2, b);
  EXPECT_FALSE(b.header.coscheduling.switched_in()) << "it waits";
  EXPECT_TRUE(dispatcher.device().places.at(SessionId{2}).interactive());
  EXPECT_FALSE(dispatcher.device().places.at(SessionId{1}).interactive());
  const auto asked = a.state();
  ASSERT_EQ(asked, State::busy_asked);
  run(1, a, 6ms, true);
  ASSERT_EQ(b.state(), State::held);
  EXPECT_TRUE(b.header.coscheduling.switched_in());
  const auto turn = b.header.coscheduling.turn.load();
  run(2, b, 6ms, true);
  ASSERT_EQ(a.state(), State::held);
  EXPECT_FALSE(a.header.coscheduling.switched_in()) << "it is not interactive";
  run(1, a, 6ms, true);
  EXPECT_TRUE(b.header.coscheduling.switched_in());
  EXPECT_NE(b.header.coscheduling.turn, turn) << "another turn";
}

TEST_F(Turns, ALoneSessionIsNotSwitchedIn) {
  FakeWorker& a = add(1);
  a.turn.interactive_cpu = 1;
  want(1, a);
  ASSERT_EQ(a.state(), State::held);
  EXPECT_FALSE(a.header.coscheduling.switched_in()) << "no contention, no cost";
}

// A device of its own hardware: the thread that hands the turn on need not be woken from sleep.
TEST_F(Turns, TheEndOfAMeasuredTurnIsExpectedAndAnnouncedOnceToTheNextSession) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2, 2);
  FakeWorker& c = add(3);
  for (FakeWorker* each : {&a, &b, &c}) each->header.coscheduling.device_apart = 1;
  want(1, a);
  a.begin();
  EXPECT_FALSE(dispatcher.end_expected()) << "a lone turn has no end";
  want(2, b);
  want(3, c);
  run(1, a, 1ms, true);
  ASSERT_EQ(b.state(), State::held);
  const auto granted = now;
  const auto window = dispatcher.end_expected();
  ASSERT_TRUE(window);
  EXPECT_EQ(window->from, granted + 5400us);
  EXPECT_EQ(window->until, granted + 6300us);
  b.begin();
  dispatcher.announce_next(window->from - 1us);
  EXPECT_EQ(c.turn.due, 0u) << "too early";
  now = window->from;
  b.use(5400us);
  dispatcher.announce_next(now);
  dispatcher.announce_next(now + 1us);
  EXPECT_EQ(c.turn.due, 1u);
  EXPECT_EQ(a.turn.due, 0u) << "it has used the device already";
  EXPECT_EQ(b.turn.due, 0u);
  EXPECT_EQ(time_of(2), 5400us) << "the holder's use so far decides";
  b.give_back(true);
  look(2);
  EXPECT_EQ(c.state(), State::held);
}

TEST_F(Turns, NobodyIsAnnouncedWhileTheHolderIsNextAgain) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2, 100);
  for (FakeWorker* each : {&a, &b}) each->header.coscheduling.device_apart = 1;
  take_over(a, b);
  ASSERT_TRUE(dispatcher.end_expected());
  now = dispatcher.end_expected()->from;
  b.use(5400us);
  dispatcher.announce_next(now);
  EXPECT_EQ(a.turn.due, 0u);
}

TEST_F(Turns, WhereManyWaitTheirProgramsHaveTheProcessors) {
  dispatcher = Dispatcher(sched::make_policy("round-robin", 6ms));  // newcomers shorten nobody's turn
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  for (FakeWorker* each : {&a, &b}) each->header.coscheduling.device_apart = 1;
  take_over(a, b);
  for (std::uint32_t i = 3; i <= Dispatcher::kMostWaitingAwake + 1; ++i) want(i, add(i));
  EXPECT_TRUE(dispatcher.end_expected());
  want(100, add(100));
  EXPECT_FALSE(dispatcher.end_expected());
}

TEST_F(Turns, OnADeviceThatIsTheHostsProcessorsNobodyIsAwakeAheadOfTime) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  take_over(a, b);
  EXPECT_FALSE(dispatcher.end_expected());
  now += 6ms;
  dispatcher.announce_next(now);
  EXPECT_EQ(a.turn.due, 0u);
}

}  // namespace
}  // namespace fairgv::daemon
