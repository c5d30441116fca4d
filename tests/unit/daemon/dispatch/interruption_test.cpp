// Interrupted turns: on a device that is the host's own processors a tenant that needs the device for a
// moment has it while the worker of the turn in progress is stopped.
#include <array>
#include <map>

#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

struct Interruptions : Turns {
  Interruptions() { dispatcher.charges().set_processors(2); }

  /// A session whose worker can be stopped.
  FakeWorker& add_stoppable(std::uint32_t session, const sched::TenantAttributes& attributes = {}) {
    FakeWorker& worker = workers.emplace_back();
    dispatcher.add_tenant(TenantId{session}, attributes, now);
    dispatcher.add_session(SessionId{session}, TenantId{session}, pages(worker), now, handle(session));
    return worker;
  }
  static Dispatcher::SessionPages pages(FakeWorker& worker) {
    return {worker.turn, &worker.promise, worker.header, {&worker.turn, 1}};
  }
  WorkerHandle handle(std::uint32_t session) {
    return {{}, [this, session](bool stop) {
              if (gone) return false;
              stopped[session] = stop;
              ++signals;
              return true;
            }};
  }
  /// The first session floods the device, in a turn without an end.
  FakeWorker& flood() {
    FakeWorker& worker = add_stoppable(1);
    want(1, worker);
    worker.begin();
    now += 100ms;
    worker.use(100ms);
    return worker;
  }
  /// The holder has drained since it was asked.
  void pass_until(Dispatcher::Time end) {
    while (dispatcher.deadline() && *dispatcher.deadline() <= end) {
      now = std::max(now, *dispatcher.deadline());
      dispatcher.expire(now);
    }
    now = end;
  }
  std::chrono::nanoseconds paused(const FakeWorker& worker) const {
    return std::chrono::nanoseconds(worker.promise.paused_ns.load());
  }

  std::map<std::uint32_t, bool> stopped;
  int signals = 0;
  bool gone = false;
};

TEST_F(Interruptions, ATenantThatNeedsTheDeviceForAMomentHasItAtOnceAndTheTurnGoesOnAfterwards) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  want(2, b);
  EXPECT_TRUE(stopped[1]);
  EXPECT_EQ(a.state(), State::busy) << "nobody asks for its turn";
  ASSERT_EQ(b.state(), State::held);
  EXPECT_GT(b.slice(), 0ns);
  EXPECT_LE(b.slice(), 750us);
  run(2, b, 300us, false);
  EXPECT_FALSE(stopped[1]);
  EXPECT_EQ(paused(a), 300us);
  EXPECT_EQ(a.state(), State::busy);
  ASSERT_TRUE(dispatcher.device().turn);
  EXPECT_EQ(dispatcher.device().turn->place.session, SessionId{1});
  EXPECT_FALSE(dispatcher.deadline()) << "it has the device to itself again";
}

TEST_F(Interruptions, ThePauseIsPaidByTheTenantThatHadTheDevice) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  FakeWorker& c = add_stoppable(3);
  want(2, b);
  run(2, b, 500us, false);
  now += 1ms;
  a.use(1500us);  // an exaggeration: the pause is not its own
  want(3, c);
  EXPECT_EQ(time_of(2), 500us);
  run(3, c, 500us, false);
  now += 1ms;
  a.use(1ms);
  run(1, a, 0ms, false);
  EXPECT_EQ(time_of(1), 102ms);
  EXPECT_EQ(time_of(3), 500us);
}

TEST_F(Interruptions, OnlyADeviceOfTheHostsProcessorsAndOnlyIfConfigured) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  dispatcher.set_rules({.slices = dispatcher.device().rules.slices, .interrupts = false});
  want(2, b);
  EXPECT_EQ(signals, 0);
  EXPECT_EQ(a.state(), State::busy_asked);
  run(1, a, 1ms, true);
  run(2, b, 1ms, false);
  now += 1s;
  dispatcher.set_rules({.slices = dispatcher.device().rules.slices});
  dispatcher.charges().set_processors(0);
  a.begin();
  want(2, b);
  EXPECT_EQ(signals, 0);
}

TEST_F(Interruptions, ATenantWithLongTurnsWaits) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  want(2, b);
  run(2, b, 5ms, false);  // a command that nobody knew
  now += 1s;
  a.use(1s);
  want(2, b);
  EXPECT_FALSE(stopped[1]);
  EXPECT_EQ(a.state(), State::busy_asked);
}

TEST_F(Interruptions, AWorkerThatWorksOnAnotherDeviceIsNotStopped) {
  FakeWorker& a = workers.emplace_back();
  std::array<session::DeviceTurn, 2> turns;
  dispatcher.add_tenant(TenantId{1}, {}, now);
  dispatcher.add_session(SessionId{1}, TenantId{1}, {turns[0], &a.promise, a.header, turns}, now, handle(1));
  session::WorkerTurn(turns[0]).want();
  look(1);
  ASSERT_TRUE(session::WorkerTurn(turns[0]).begin());
  now += 100ms;
  turns[1].state = static_cast<std::uint32_t>(State::busy);
  FakeWorker& b = add_stoppable(2);
  want(2, b);
  EXPECT_EQ(signals, 0);
  EXPECT_EQ(b.state(), State::wanting);
}

TEST_F(Interruptions, AStoppedWorkerRunsAgainAfterAWhileBesideTheOther) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  want(2, b);
  b.begin();
  const auto began = now;
  pass_until(now + 1s);
  EXPECT_FALSE(stopped[1]) << "it may hold what the other waits for";
  EXPECT_EQ(paused(a), Interruption::kLongestStop);
  EXPECT_EQ(b.state(), State::busy_asked);
  // Meanwhile the first gives its turn back: nobody looks at that before the other is done.
  a.use(900ms);
  a.give_back(false);
  look(1);
  EXPECT_EQ(b.state(), State::busy_asked);
  run(2, b, 0ms, false);
  EXPECT_FALSE(holder_of(dispatcher));
  EXPECT_TRUE(dispatcher.take_broken().empty());
  EXPECT_GE(time_of(2), (now - began) * 7 / 8);
  EXPECT_EQ(time_of(1), 100ms + 900ms);
}

TEST_F(Interruptions, ATurnThatWasGivenBackBesideTheOtherMakesRoomForWhoWaits) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  FakeWorker& c = add_stoppable(3);
  want(2, b);
  b.begin();
  pass_until(now + 100ms);
  a.use(50ms);
  a.give_back(true);
  look(1);
  want(3, c);
  run(2, b, 0ms, false);
  EXPECT_EQ(c.state(), State::held);
  EXPECT_EQ(a.state(), State::wanting);
  EXPECT_TRUE(dispatcher.take_broken().empty());
}

TEST_F(Interruptions, TheHoldLimitHoldsInAnInterruptionToo) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  dispatcher.set_rules({dispatcher.device().rules.slices, 10s});
  want(2, b);
  b.begin();
  pass_until(now + 11s);
  const auto broken = dispatcher.take_broken();
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_EQ(broken[0].session, SessionId{2});
  dispatcher.remove_session(SessionId{2}, now);
  EXPECT_EQ(a.state(), State::busy);
  ASSERT_TRUE(dispatcher.device().turn);
  EXPECT_EQ(dispatcher.device().turn->place.session, SessionId{1});
}

TEST_F(Interruptions, AnotherTenantThatWaitsMeanwhileIsServedByItsTag) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  FakeWorker& c = add_stoppable(3);
  want(2, b);
  b.begin();
  want(3, c);
  EXPECT_EQ(c.state(), State::wanting);
  EXPECT_EQ(signals, 1);
  run(2, b, 200us, true);
  EXPECT_FALSE(stopped[1]);
  EXPECT_EQ(a.state(), State::busy_asked) << "two wait, and the turn without an end is over";
  run(1, a, 1ms, true);
  EXPECT_EQ(c.state(), State::held);
}

TEST_F(Interruptions, TheInterruptedSessionMayEnd) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  want(2, b);
  b.begin();
  now += 300us;
  a.use(50us);
  gone = true;
  dispatcher.remove_session(SessionId{1}, now);
  EXPECT_EQ(b.state(), State::busy);
  EXPECT_LE(time_of(1), 100ms + 50us) << "not the pause";
  run(2, b, 100us, false);
  EXPECT_FALSE(holder_of(dispatcher));
}

TEST_F(Interruptions, TheInterruptedSessionMayBeSuspended) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  want(2, b);
  dispatcher.set_suspended(SessionId{1}, true, now);
  run(2, b, 100us, false);
  EXPECT_FALSE(stopped[1]);
  EXPECT_EQ(a.state(), State::busy_asked);
}

TEST_F(Interruptions, APolicyThatComesMeanwhileGoesOnWithTheTurn) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  want(2, b);
  dispatcher.set_policy(sched::make_policy("round-robin", 6ms), now);
  run(2, b, 100us, true);
  EXPECT_FALSE(stopped[1]);
  EXPECT_EQ(a.state(), State::busy_asked);
  run(1, a, 1ms, true);
  EXPECT_EQ(b.state(), State::held);
}

TEST_F(Interruptions, TheNextDispatcherLetsTheWorkerGoOn) {
  FakeWorker& a = flood();
  FakeWorker& b = add_stoppable(2);
  want(2, b);
  b.begin();
  now += 200us;
  const auto turn_of = [this](std::uint32_t session) -> std::optional<TurnBooks> {
    const DeviceState& device = dispatcher.device();
    if (device.interrupted && device.interrupted->place().session == SessionId{session}) {
      return device.interrupted->books();
    }
    return device.turn->books();
  };
  Dispatcher next(sched::make_policy(sched::kDefaultPolicy, 6ms));
  next.charges().set_processors(2);
  for (std::uint32_t i : {1U, 2U}) {
    FakeWorker& worker = i == 1 ? a : b;
    next.add_tenant(TenantId{i}, {}, now);
    next.adopt_session(SessionId{i}, TenantId{i}, pages(worker), i == 1 ? 100'000'000 : 0, now, {},
                       turn_of(i), handle(i));
  }
  next.resume(now);
  EXPECT_TRUE(next.take_broken().empty());
  EXPECT_TRUE(stopped[1]);
  now += 100us;
  b.use(300us);
  b.give_back(false);
  next.look(SessionId{2}, now);
  EXPECT_FALSE(stopped[1]);
  EXPECT_EQ(paused(a), 300us);
  EXPECT_EQ(holder_of(next), SessionId{1});
  EXPECT_EQ(next.device().charges.accounts().at(TenantId{2}).device_time, 300us);
}

TEST_F(Interruptions, ALatencyTenantInterruptsAgainAndAgainAndOthersOnlyOnceInAWhile) {
  for (const auto service : {sched::ServiceClass::latency, sched::ServiceClass::normal}) {
    FakeWorker& a = flood();
    FakeWorker& b = add_stoppable(2, {.service = service});
    int interruptions = 0;
    for (int i = 0; i < 8; ++i) {
      const int before = signals;
      want(2, b);
      const bool interrupted = signals > before;
      interruptions += interrupted ? 1 : 0;
      if (!interrupted) run(1, a, 100us, true);
      run(2, b, 10us, false);
      now += 100us;
      if (a.state() == State::held) a.begin();
    }
    if (service == sched::ServiceClass::latency) {
      EXPECT_EQ(interruptions, 8);
    } else {
      EXPECT_LT(interruptions, 4);
      EXPECT_GT(interruptions, 0);
    }
    for (std::uint32_t session : {1U, 2U}) dispatcher.remove_session(SessionId{session}, now);
    for (std::uint32_t tenant : {1U, 2U}) dispatcher.forget_tenant(TenantId{tenant}, now);
    now += 10s;
  }
}

}  // namespace
}  // namespace fairgv::daemon
