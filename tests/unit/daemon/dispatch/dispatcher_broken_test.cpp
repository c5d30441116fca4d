// Workers that break the protocol of turns: each is reported, and keeps nobody else from the device.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

struct BrokenTurns : Turns {
  void expect_broken(std::uint32_t session) {
    const auto broken = dispatcher.take_broken();
    ASSERT_EQ(broken.size(), 1u);
    EXPECT_EQ(broken[0].session, SessionId{session});
    EXPECT_FALSE(broken[0].reason.empty());
    EXPECT_FALSE(broken[0].held_too_long);
  }
  static void force(FakeWorker& worker, std::uint32_t state) { worker.turn.state.store(state); }
};

TEST_F(BrokenTurns, BusyWithoutATurnIsReported) {
  FakeWorker& a = add(1);
  force(a, static_cast<std::uint32_t>(State::busy));
  look(1);
  expect_broken(1);
}

TEST_F(BrokenTurns, AnUnknownStateIsReported) {
  FakeWorker& a = add(1);
  want(1, a);
  force(a, 4'711);
  look(1);
  expect_broken(1);
}

TEST_F(BrokenTurns, AskedWithoutBeingAskedIsReported) {
  FakeWorker& a = add(1);
  want(1, a);
  force(a, static_cast<std::uint32_t>(State::busy_asked));
  look(1);
  expect_broken(1);
}

TEST_F(BrokenTurns, TimeThatGoesBackwardsIsReported) {
  FakeWorker& a = add(1);
  want(1, a);
  run(1, a, 5ms, true);
  a.begin();
  a.turn.used_ns = 1;
  a.give_back(true);
  look(1);
  expect_broken(1);
  EXPECT_EQ(holder_of(dispatcher), std::nullopt);
}

TEST_F(BrokenTurns, AWaitingSessionThatBreaksTheProtocolIsPassedOver) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  FakeWorker& c = add(3);
  want(1, a);
  a.begin();
  want(2, b);
  want(3, c);
  force(b, static_cast<std::uint32_t>(State::busy));
  run(1, a, 1ms, false);
  expect_broken(2);
  EXPECT_EQ(c.state(), State::held);
}

TEST_F(BrokenTurns, AHolderThatBreaksTheProtocolKeepsTheDeviceUntilItsWorkerIsDead) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  want(2, b);
  force(a, 99);
  look(1);
  expect_broken(1);
  EXPECT_EQ(b.state(), State::wanting);  // the broken session may have commands on the device
  dispatcher.remove_session(SessionId{1}, now);
  EXPECT_EQ(b.state(), State::held);
}

}  // namespace
}  // namespace fairgv::daemon
