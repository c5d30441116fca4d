// Turns, as the dispatcher remembers them for traces.
#include <gtest/gtest.h>

#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

struct TracedTurns : Turns {
  std::vector<TracedTurn> take() { return take_turns(dispatcher, now, lost); }
  std::uint64_t lost = 0;
};

TEST_F(TracedTurns, AreNotRememberedWhileNobodyTraces) {
  FakeWorker& worker = add(1);
  want(1, worker);
  run(1, worker, 2ms, false);
  EXPECT_TRUE(take().empty());
}

TEST_F(TracedTurns, SayWhenTheyWereWantedGrantedAndOver) {
  dispatcher.log().turn_on(true);
  FakeWorker& first = add(1);
  FakeWorker& second = add(2);
  const auto start = now;
  want(1, first);
  first.begin();
  now += 1ms;
  want(2, second);
  now += 3ms;
  first.use(4ms);
  first.give_back(false);
  look(1);
  now += 1ms;  // the device is kept for the first tenant for a moment
  dispatcher.expire(now);
  const auto turns = take();
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].session, SessionId{1});
  EXPECT_EQ(turns[0].wanted, start);
  EXPECT_EQ(turns[0].granted, start);
  EXPECT_EQ(turns[0].ended, start + 4ms);
  EXPECT_EQ(turns[0].charged, 4ms);
  EXPECT_TRUE(turns[0].over);
  EXPECT_EQ(turns[1].session, SessionId{2});
  EXPECT_EQ(turns[1].wanted, start + 1ms);
  EXPECT_GE(turns[1].granted, turns[0].ended);
  EXPECT_FALSE(turns[1].over);
}

/// The dispatcher has read the clock, and a worker gives its turn back before the dispatcher looks at it.
TEST_F(TracedTurns, EndAndBeginWhenThatIsSeen) {
  static sched::Time clock;
  clock = now;
  dispatcher.log().turn_on(true, [] { return clock; });
  FakeWorker& first = add(1);
  FakeWorker& second = add(2);
  want(1, first);
  first.begin();
  want(2, second);
  now += 4ms;
  clock = now + 1ms;
  first.use(5ms);
  first.give_back(true);
  look(1);
  const auto turns = take();
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].ended, clock);
  EXPECT_EQ(turns[1].granted, clock);
  EXPECT_GE(turns[1].ended, turns[1].granted);  // it is under way
}

TEST_F(TracedTurns, SayWhetherTheyServeAGuarantee) {
  dispatcher.log().turn_on(true);
  dispatcher.add_tenant(TenantId{1}, {.weight = 1, .min = {20ms, 50ms}}, now);
  dispatcher.add_tenant(TenantId{2}, {.weight = 1}, now);
  FakeWorker& first = workers.emplace_back();
  FakeWorker& second = workers.emplace_back();
  dispatcher.add_session(SessionId{1}, TenantId{1}, {first.turn, nullptr, first.header}, now);
  dispatcher.add_session(SessionId{2}, TenantId{2}, {second.turn, nullptr, second.header}, now);
  want(1, first);
  want(2, second);
  for (int i = 0; i < 40; ++i) {
    const bool by_second = second.state() == State::held;
    run(by_second ? 2 : 1, by_second ? second : first, 6ms, true);
  }
  std::size_t promised = 0, by_weight = 0;
  for (const TracedTurn& turn : take()) {
    EXPECT_FALSE(turn.promised && turn.session == SessionId{2});
    if (turn.session == SessionId{1}) ++(turn.promised ? promised : by_weight);
  }
  EXPECT_GT(promised, 0u);
  EXPECT_GT(by_weight, 0u) << "beyond its guarantee it has turns by its weight";
}

TEST_F(TracedTurns, ComeAgainWhileTheyAreNotOverAndOnceWhenTheyAre) {
  dispatcher.log().turn_on(true);
  FakeWorker& worker = add(1);
  want(1, worker);
  for (int i = 0; i < 3; ++i) {
    now += 10ms;
    const auto turns = take();
    ASSERT_EQ(turns.size(), 1u);
    EXPECT_FALSE(turns[0].over);
    EXPECT_EQ(turns[0].ended, now);
  }
  run(1, worker, 2ms, false);
  const auto turns = take();
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_TRUE(turns[0].over);
  EXPECT_TRUE(take().empty());
}

TEST_F(TracedTurns, EndWithTheirSession) {
  dispatcher.log().turn_on(true);
  FakeWorker& worker = add(1);
  want(1, worker);
  worker.begin();
  now += 5ms;
  dispatcher.remove_session(SessionId{1}, now);
  const auto turns = take();
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_TRUE(turns[0].over);
  EXPECT_EQ(turns[0].ended, now);
}

TEST_F(TracedTurns, BeyondTheMostAreCounted) {
  dispatcher.log().turn_on(true);
  FakeWorker& worker = add(1);
  constexpr std::uint64_t kTooMany = 10;
  for (std::uint64_t i = 0; i < TurnLog::kMost + kTooMany; ++i) {
    want(1, worker);
    run(1, worker, 1us, false);
    now += 1ms;
    dispatcher.expire(now);
  }
  EXPECT_EQ(take().size(), TurnLog::kMost);
  EXPECT_EQ(lost, kTooMany);
  EXPECT_TRUE(take().empty());
  EXPECT_EQ(lost, kTooMany);
}

}  // namespace
}  // namespace fairgv::daemon
