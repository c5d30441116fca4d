// The hold limit: a session whose command keeps the device from others for too long.
#include <gtest/gtest.h>

#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

struct HoldWatchdog : Turns {
  HoldWatchdog() { dispatcher.set_rules({dispatcher.device().rules.slices, 10s}); }
  /// The daemon's thread wakes up whenever the dispatcher has asked for it.
  void pass(std::chrono::nanoseconds time) {
    const auto end = now + time;
    while (dispatcher.deadline() && *dispatcher.deadline() <= end) {
      now = std::max(now, *dispatcher.deadline());
      dispatcher.expire(now);
    }
    now = end;
  }
};

TEST_F(HoldWatchdog, ACommandThatHoldsTheDeviceFromOthersForTooLongBreaksItsSession) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  pass(3600s);
  want(2, b);
  pass(9'900ms);
  EXPECT_TRUE(dispatcher.take_broken().empty()) << "an hour alone does not count";
  pass(200ms);
  const auto broken = dispatcher.take_broken();
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_TRUE(broken[0].held_too_long);
  EXPECT_EQ(broken[0].session, SessionId{1});
  EXPECT_NE(broken[0].reason.find("held a device for more than 10 s"), std::string::npos) << broken[0].reason;
  EXPECT_EQ(b.state(), State::wanting) << "not before the worker is dead";
  pass(60s);
  EXPECT_TRUE(dispatcher.take_broken().empty()) << "told once";
  dispatcher.remove_session(SessionId{1}, now);
  EXPECT_EQ(b.state(), State::held);
}

TEST_F(HoldWatchdog, AContendedTurnIsWatchedToo) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  want(2, b);
  run(1, a, 1ms, true);
  ASSERT_EQ(b.state(), State::held);
  b.begin();
  pass(10'100ms);
  const auto broken = dispatcher.take_broken();
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].session, SessionId{2});
}

TEST_F(HoldWatchdog, ItLooksOnlyAtOneTurnAndOnlyWhileSomebodyWaits) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  for (int i = 0; i < 5; ++i) {
    want(2, b);
    pass(6s);
    run(1, a, 1ms, true);
    run(2, b, 1ms, false);
    pass(100ms);  // meanwhile the device is kept for b, to which a owes much
    ASSERT_EQ(a.state(), State::held);
    a.begin();
  }
  want(2, b);
  pass(6s);
  dispatcher.remove_session(SessionId{2}, now);
  pass(6s);
  FakeWorker& c = add(3);
  want(3, c);
  pass(6s);
  EXPECT_TRUE(dispatcher.take_broken().empty()) << "nobody has waited for ten seconds on end";
  pass(5s);
  EXPECT_EQ(dispatcher.take_broken().size(), 1u);
}

TEST_F(HoldWatchdog, WithoutALimitItSleeps) {
  dispatcher.set_rules({dispatcher.device().rules.slices, 0s});
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  want(2, b);
  pass(600s);
  EXPECT_TRUE(dispatcher.take_broken().empty());
}

}  // namespace
}  // namespace fairgv::daemon
