// Turns, places and dues of a session that gets another worker, on the same devices or on others.
#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "tests/unit/daemon/dispatch/loop_member.hpp"

namespace fairgv::daemon {
namespace {

using MovedState = session::TurnState;
using Shares = std::vector<double>;

struct DispatchOfAMove : ::testing::Test {
  /// The session's devices; its objects lie on `home` alone.
  static DispatchedSession at(Member& member, std::uint32_t home, std::uint64_t hidden) {
    DispatchedSession session = member.for_loop(1, 2);
    session.devices.hide(hidden);
    session.homes = session.devices;
    session.homes->hide(~(std::uint64_t{1} << home) & 0b11);
    return session;
  }
  /// Has the turn and uses the device for so long.
  void use(Member& member, std::uint32_t device, std::uint64_t used_ns) {
    member.want(device);
    member.wait_while(MovedState::wanting, device);
    ASSERT_TRUE(member.move(MovedState::held, MovedState::busy, device));
    member.turn(device).used_ns += used_ns;
    member.give_back(false, device);
    while (loop->looks().devices().at(device).holder) std::this_thread::yield();
  }
  Shares shares(const Member& member) {
    return loop->looks().usage({member.tenant_id})[member.tenant_id].shares;
  }

  std::unique_ptr<DispatchLoop> loop = start_loop(2);
  Member a{1, 1};
  Member b{2, 2};
};

TEST_F(DispatchOfAMove, TheNewWorkerBeginsWithoutATurnAndWithoutAWish) {
  ASSERT_TRUE(loop->add_session(a.for_loop(1, 2)));
  ASSERT_TRUE(loop->add_session(b.for_loop(1, 2)));
  a.want(0);
  a.wait_while(MovedState::wanting, 0);
  b.want(0);
  // The old worker rests with a turn that it does not use, and a wish on the other device.
  b.wait_while(MovedState::wanting, 0);
  ASSERT_EQ(b.state(0), MovedState::held);
  a.want(0);
  loop->move_session(a.for_loop(1, 2));
  EXPECT_EQ(a.state(0), MovedState::idle);
  loop->move_session(b.for_loop(1, 2));
  EXPECT_EQ(b.state(0), MovedState::idle);
  EXPECT_EQ(loop->looks().devices().at(0).holder, std::nullopt);
  use(a, 0, 1'000);
  EXPECT_EQ(loop->looks().session(a.id).used_ns, (std::vector<std::uint64_t>{1'000, 0}));
  loop->remove_session(a.id);
  loop->remove_session(b.id);
}

TEST_F(DispatchOfAMove, TheTurnOfAWorkerThatIsReplacedGoesToTheNextSession) {
  ASSERT_TRUE(loop->add_session(a.for_loop(1, 2)));
  ASSERT_TRUE(loop->add_session(b.for_loop(1, 2)));
  a.want(0);
  a.wait_while(MovedState::wanting, 0);
  ASSERT_TRUE(a.move(MovedState::held, MovedState::busy, 0));
  b.want(0);
  loop->move_session(a.for_loop(1, 2));
  b.wait_while(MovedState::wanting, 0);
  EXPECT_EQ(b.state(0), MovedState::held);
  loop->remove_session(a.id);
  loop->remove_session(b.id);
}

TEST_F(DispatchOfAMove, ASessionIsDueWhereItsObjectsLie) {
  ASSERT_TRUE(loop->add_session(at(a, 0, 0b10)));
  EXPECT_EQ(shares(a), Shares({1, 0}));
  use(a, 0, 5'000);
  loop->move_session(at(a, 1, 0));
  EXPECT_EQ(shares(a), Shares({0, 1}));
  use(a, 1, 7'000);
  EXPECT_EQ(loop->looks().session(a.id).used_ns, (std::vector<std::uint64_t>{5'000, 7'000}))
      << "what it has used elsewhere is not forgotten";
  loop->set_suspended(a.id, true, {1});
  EXPECT_EQ(shares(a), Shares({0, 0}));
  loop->set_suspended(a.id, false, {1});
  EXPECT_EQ(shares(a), Shares({0, 1}));
  loop->move_session(at(a, 0, 0));
  EXPECT_EQ(shares(a), Shares({1, 0}));
  use(a, 0, 1'000);
  EXPECT_EQ(loop->looks().session(a.id).used_ns, (std::vector<std::uint64_t>{6'000, 7'000}));
  loop->remove_session(a.id);
}

TEST_F(DispatchOfAMove, ASessionThatHasLeftADeviceIsNoCompanyThere) {
  ASSERT_TRUE(loop->add_session(a.for_loop(1, 2)));
  ASSERT_TRUE(loop->add_session(b.for_loop(1, 2)));
  use(a, 0, 1'000);
  use(b, 0, 1'000);
  b.want(0);
  b.wait_while(MovedState::wanting, 0);
  EXPECT_NE(b.turn(0).company.load(), 0U);
  loop->move_session(at(a, 1, 0));
  EXPECT_EQ(b.turn(0).company.load(), 0U);
  loop->remove_session(a.id);
  loop->remove_session(b.id);
}

TEST_F(DispatchOfAMove, AnUnknownSessionIsPassedOver) {
  loop->move_session(a.for_loop(1, 2));
  EXPECT_FALSE(loop->looks().session(a.id).has_used_a_device);
}

}  // namespace
}  // namespace fairgv::daemon
