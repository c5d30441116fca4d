// Turns that go on under the next daemon.
#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

struct Successor : Turns {
  /// The state that a dispatcher hands to a new one; workers may move in between.
  void hand_over() {
    for (std::uint32_t id = 1; id <= workers.size(); ++id) {
      books.push_back(dispatcher.charges().accounts().at(TenantId{id}).books());
      work.push_back(dispatcher.work(SessionId{id}, now));
      charged.push_back(dispatcher.device().places.at(SessionId{id}).used_ns);
    }
  }
  void take_over() {
    dispatcher = Dispatcher(sched::make_policy(sched::kDefaultPolicy, 6ms));
    for (std::uint32_t id = 1; id <= workers.size(); ++id) {
      dispatcher.add_tenant(TenantId{id}, {1}, now);
      dispatcher.charges().accounts().at(TenantId{id}).restore(books[id - 1]);
      FakeWorker& worker = workers[id - 1];
      dispatcher.adopt_session(SessionId{id}, TenantId{id}, {worker.turn, nullptr, worker.header},
                               charged[id - 1], now, work[id - 1]);
    }
    dispatcher.resume(now);
  }
  void expire_all(std::chrono::nanoseconds time) {
    const auto end = now + time;
    while (dispatcher.deadline() && *dispatcher.deadline() <= end) {
      now = *dispatcher.deadline();
      dispatcher.expire(now);
    }
    now = end;
  }
  std::vector<TenantBooks> books;
  std::vector<std::uint64_t> charged;
  std::vector<WorkCounters> work;
};

TEST_F(Successor, KnowsWhatWasCounted) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  want(2, b);
  run(1, a, 5ms, true);
  a.turn.bytes = 4096;
  hand_over();
  take_over();
  const DeviceUse use = use_of(dispatcher, TenantId{1}, now);
  EXPECT_EQ(use.work.bytes, 4096u);
  EXPECT_EQ(use.work.commands, 1u);
  EXPECT_EQ(use_of(dispatcher, TenantId{2}, now).waits.sum(), 5ms);
}

TEST_F(Successor, GoesOnWithATurnInUseAndChargesItOnce) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  run(1, a, 5ms, true);
  a.begin();
  now += 2ms;
  a.use(2ms);
  dispatcher.charge_holder(now);
  ASSERT_EQ(time_of(1), 7ms);
  hand_over();
  take_over();
  EXPECT_EQ(time_of(1), 7ms);
  EXPECT_EQ(a.state(), State::busy);
  now += 3ms;
  a.use(3ms);
  want(2, b);
  EXPECT_EQ(a.state(), State::busy_asked) << "a turn without an end may be asked for";
  a.give_back(false);
  look(1);
  EXPECT_EQ(time_of(1), 10ms);
  expire_all(1ms);  // the policy may have kept the device for a
  EXPECT_EQ(b.state(), State::held);
}

TEST_F(Successor, GrantsWhatWasGivenBackInBetween) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  want(2, b);
  hand_over();
  a.use(1ms);
  a.give_back(false);  // nobody looks at the knock
  take_over();
  EXPECT_EQ(b.state(), State::held);
}

TEST_F(Successor, AsksTheHolderWhenSomebodyHasBegunToWaitInBetween) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  hand_over();
  b.want();
  take_over();
  expire_all(100ms);
  EXPECT_EQ(a.state(), State::busy_asked);
  a.give_back(false);
  look(1);
  EXPECT_EQ(b.state(), State::held);
}

TEST_F(Successor, WaitsForAMeasuredTurnToEnd) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  want(2, b);
  run(1, a, 1ms, true);
  b.begin();
  ASSERT_EQ(b.slice(), 6ms);
  hand_over();
  take_over();
  expire_all(3ms);
  EXPECT_EQ(b.state(), State::busy);
  now += 3ms;
  b.use(6ms);
  b.give_back(true);
  look(2);
  EXPECT_EQ(a.state(), State::held);
}

TEST_F(Successor, BelievesOnlyOneHolder) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  hand_over();
  b.turn.state = static_cast<std::uint32_t>(State::busy);
  take_over();
  const auto broken = dispatcher.take_broken();
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].session, SessionId{2});
}

}  // namespace
}  // namespace fairgv::daemon
