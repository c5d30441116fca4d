// The dispatcher's thread: knocks, grants, turns taken back, and sessions that leave or break the protocol.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <utility>

#include "tests/unit/daemon/dispatch/loop_member.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

TEST(DispatchLoop, AnswersAKnockWithAGrant) {
  const auto loop = start_loop();
  Member member(1, 1);
  ASSERT_TRUE(loop->add_session(member.for_loop()));
  member.want();
  member.wait_while(State::wanting);
  EXPECT_EQ(member.state(), State::held);
  EXPECT_EQ(loop->looks().devices()[0].holder, SessionId{1});
  loop->remove_session(member.id);
  EXPECT_EQ(loop->looks().devices()[0].holder, std::nullopt);
}

TEST(DispatchLoop, HearsAKnockFromBeforeTheSessionWasAdded) {
  const auto loop = start_loop();
  Member member(1, 1);
  member.want();
  ASSERT_TRUE(loop->add_session(member.for_loop()));
  member.wait_while(State::wanting);
  EXPECT_EQ(member.state(), State::held);
  loop->remove_session(member.id);
}

// A worker decides how long a read of its shared descriptor takes: it can let reads block, and read the knock
// away between the loop's wait and the loop's read.
TEST(DispatchLoop, NeverReadsAWorkersKnocks) {
  const auto loop = start_loop();
  Member member(1, 1);
  ASSERT_TRUE(loop->add_session(member.for_loop()));
  for (std::uint64_t turns = 1; turns <= 3; ++turns) {
    member.want();
    member.wait_while(State::wanting);
    ASSERT_TRUE(member.move(State::held, State::busy));
    member.give_back(false);
    while (loop->looks().devices()[0].holder) std::this_thread::yield();
  }
  std::uint64_t knocks = 0;
  ASSERT_EQ(::read(member.knock_fd.get(), &knocks, sizeof(knocks)), static_cast<ssize_t>(sizeof(knocks)));
  EXPECT_EQ(knocks, 6U);
  loop->remove_session(member.id);
}

TEST(DispatchLoop, ASuspendedSessionGetsNoTurnAndHasNoShare) {
  const auto loop = start_loop(2);
  Member a(1, 1);
  Member b(2, 2);
  DispatchedSession from_the_start = a.for_loop();
  from_the_start.suspended = true;
  ASSERT_TRUE(loop->add_session(from_the_start));
  ASSERT_TRUE(loop->add_session(b.for_loop(3)));
  const auto shares = [&] {
    auto usage = loop->looks().usage({a.tenant_id, b.tenant_id});
    return std::pair(usage[a.tenant_id].shares[0], usage[b.tenant_id].shares[0]);
  };
  EXPECT_EQ(shares(), std::pair(0.0, 1.0));
  a.want(0);
  b.want(0);
  b.wait_while(State::wanting, 0);
  EXPECT_EQ(loop->looks().devices()[0].holder, b.id);
  // The turn that b has not used is taken back, and a may run.
  loop->set_suspended(b.id, true, {3});
  loop->set_suspended(a.id, false, {1});
  a.wait_while(State::wanting, 0);
  EXPECT_EQ(loop->looks().devices()[0].holder, a.id);
  EXPECT_EQ(shares(), std::pair(1.0, 0.0));
  loop->set_suspended(b.id, false, {3});
  EXPECT_EQ(shares(), std::pair(0.25, 0.75));
  loop->set_suspended(SessionId{77}, true, {1});  // a session that does not exist
  loop->remove_session(a.id);
  loop->remove_session(b.id);
  EXPECT_EQ(shares(), std::pair(0.0, 0.0));
}

TEST(DispatchLoop, TakesAnUnusedTurnBackForTheNewcomer) {
  const auto loop = start_loop();
  Member a(1, 1);
  Member b(2, 2);
  ASSERT_TRUE(loop->add_session(a.for_loop()));
  ASSERT_TRUE(loop->add_session(b.for_loop()));
  a.want();
  a.wait_while(State::wanting);
  b.want();  // the loop must wake up by itself to serve it
  b.wait_while(State::wanting);
  EXPECT_EQ(a.state(), State::idle);
  EXPECT_EQ(b.state(), State::held);
  loop->remove_session(a.id);
  loop->remove_session(b.id);
}

// Nobody knocks then: the thread wakes by itself.
TEST(DispatchLoop, AnnouncesATurnBeforeTheOneInProgressIsOver) {
  const auto loop = start_loop();
  std::deque<Member> members;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    members.emplace_back(i, i).header.coscheduling.device_apart = 1;
    ASSERT_TRUE(loop->add_session(members.back().for_loop()));
  }
  // However late either thread is: the session that has the device keeps it for longer than its slice.
  auto begun = std::chrono::steady_clock::now();
  int turns = 0;
  const auto announced = [&] {
    return std::any_of(members.begin(), members.end(), [](Member& each) { return each.turn().due != 0; });
  };
  while (!announced()) {
    for (Member& each : members) {
      const auto now = std::chrono::steady_clock::now();
      switch (each.state()) {
        case State::idle:
          each.want();
          break;
        case State::wanting:
          break;
        case State::held:
          each.turn().used_ns += 5'000'000;  // its use when its turn is nearly over
          begun = now;
          ASSERT_LT(++turns, 100) << "many turns were over, and none was announced";
          (void)each.move(State::held, State::busy);
          break;
        case State::busy:
          if (now - begun > 8ms) each.give_back(true);
          break;
        case State::busy_asked:
          each.give_back(true);
          break;
      }
    }
    std::this_thread::yield();
  }
  EXPECT_TRUE(loop->take_broken().empty());
  for (const Member& each : members) loop->remove_session(each.id);
}

TEST(DispatchLoop, GivesTheTurnOfARemovedSessionToTheNext) {
  const auto loop = start_loop();
  Member a(1, 1);
  Member b(2, 2);
  ASSERT_TRUE(loop->add_session(a.for_loop()));
  ASSERT_TRUE(loop->add_session(b.for_loop()));
  a.want();
  a.wait_while(State::wanting);
  ASSERT_TRUE(a.move(State::held, State::busy));
  b.want();
  a.yield_until_asked();
  loop->remove_session(a.id);
  EXPECT_EQ(b.state(), State::held);
  loop->remove_session(b.id);
}

TEST(DispatchLoop, ReportsASessionThatBreaksTheProtocol) {
  const auto loop = start_loop();
  Member member(1, 1);
  ASSERT_TRUE(loop->add_session(member.for_loop()));
  member.turn().state = 77;
  member.knock();
  pollfd event{loop->broken_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, -1), 1);
  const auto broken = loop->take_broken();
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].session, member.id);
  loop->remove_session(member.id);
}

// Nobody knocks then: the thread wakes by itself.
TEST(DispatchLoop, LooksAtProgramsWhileSessionsWaitForADeviceThatFollowsTheHost) {
  const auto loop = start_loop();
  Member a(1, 1);
  Member b(2, 2);
  std::atomic<int> looks{0};
  for (Member* const each : {&a, &b}) {
    DispatchedSession session = each->for_loop();
    session.program = [&looks] {
      ++looks;
      return std::optional<sched::Duration>(0ns);
    };
    ASSERT_TRUE(loop->add_session(session));
  }
  a.want();
  a.wait_while(State::wanting);
  ASSERT_TRUE(a.move(State::held, State::busy));
  b.want();
  a.yield_until_asked();
  EXPECT_EQ(looks, 0) << "fair does not care";
  loop->set_policy("cosched", {});
  while (looks < 6) std::this_thread::yield();
  loop->remove_session(b.id);
  loop->remove_session(a.id);
}

TEST(DispatchLoop, ForgetsATenantOnlyWithoutSessionsAndDebt) {
  const auto loop = start_loop();
  Member member(1, 1);
  ASSERT_TRUE(loop->add_session(member.for_loop()));
  EXPECT_FALSE(loop->forget_if_clear(TenantId{1}));
  loop->remove_session(member.id);
  EXPECT_TRUE(loop->forget_if_clear(TenantId{1}));
  EXPECT_TRUE(loop->looks().usage({TenantId{1}}).empty());
}

}  // namespace
}  // namespace fairgv::daemon
