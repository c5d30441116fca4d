// The dispatcher's thread against workers on threads of their own. Run it under ThreadSanitizer.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/daemon/dispatch/loop_member.hpp"

namespace fairgv::daemon {
namespace {

using State = session::TurnState;

/// A worker that makes random legal moves until it has had `turns` turns.
void play(Member& member, std::uint32_t seed, int turns, std::atomic<int>& in_use) {
  std::minstd_rand generator(seed);
  const auto random = [&] { return static_cast<std::uint32_t>(generator() >> 8); };
  while (turns > 0) {
    switch (member.state()) {
      case State::idle:
        member.want();
        break;
      case State::wanting:
        member.wait_while(State::wanting);
        break;
      case State::held:
        if (random() % 4 == 0) {
          // The knock comes late: meanwhile the turn may be taken back.
          member.knock();
          std::this_thread::yield();
        }
        if (!member.move(State::held, State::busy)) break;
        --turns;
        [[fallthrough]];
      case State::busy:
      case State::busy_asked: {
        EXPECT_EQ(in_use.fetch_add(1), 0) << "two sessions use the device at once";
        for (std::uint32_t i = random() % 200; i > 0; --i)
          std::atomic_signal_fence(std::memory_order_seq_cst);
        member.turn().used_ns.fetch_add(1 + random() % 1'000);
        in_use.fetch_sub(1);
        const std::uint32_t next = random() % 3;
        if (next == 0 && member.move(State::busy, State::held)) break;
        member.give_back(next == 1);
        break;
      }
    }
  }
  // Ends idle, so that the others go on, whatever the dispatcher does at the same time.
  for (;;) {
    if (member.state() == State::idle) return;
    if (member.state() == State::wanting) member.wait_while(State::wanting);
    if (member.move(State::held, State::busy)) member.give_back(false);
  }
}

TEST(DispatchLoop, AWorkerThatReadsItsOwnKnocksDoesNotBlockOthers) {
  const auto loop = start_loop();
  Member hostile(1, 1), victim(2, 2);
  for (Member* member : {&hostile, &victim}) ASSERT_TRUE(loop->add_session(member->for_loop()));
  ASSERT_EQ(::fcntl(hostile.knock_fd.get(), F_SETFL, 0), 0);  // reads block from now on
  std::atomic<bool> done{false};
  std::thread knocks([&] {
    while (!done) hostile.knock();
  });
  std::thread reads([&] {
    std::uint64_t away = 0;
    while (!done)
      EXPECT_EQ(::read(hostile.knock_fd.get(), &away, sizeof(away)), static_cast<ssize_t>(sizeof(away)));
  });
  std::atomic<int> in_use{0};
  play(victim, 1, 2'000, in_use);
  done = true;
  // One of the two threads may be in a read just then.
  for (int i = 0; i < 2; ++i) hostile.knock();
  knocks.join();
  hostile.knock();
  reads.join();
  for (const Member* member : {&hostile, &victim}) loop->remove_session(member->id);
}

TEST(DispatchLoop, EverySessionGetsItsTurnsAndNoTwoHaveTheDeviceAtOnce) {
  constexpr int kWorkers = 5;
  constexpr int kTurns = 1'500;
  const auto loop = start_loop();
  std::deque<Member> members;
  std::atomic<int> in_use{0};
  for (std::uint32_t i = 1; i <= kWorkers; ++i) {
    members.emplace_back(i, 1 + i % 3);  // some tenants have two sessions
    ASSERT_TRUE(loop->add_session(members.back().for_loop(i)));
  }
  // If a session that wants the device were forgotten while nobody holds it, this test would never end.
  std::vector<std::thread> threads;
  for (Member& member : members) threads.emplace_back([&] { play(member, member.id.value, kTurns, in_use); });
  for (int i = 0; i < 200; ++i) {
    (void)loop->looks().usage({TenantId{1}, TenantId{2}, TenantId{3}});
    loop->set_attributes(TenantId{1}, {1 + static_cast<std::uint32_t>(i % 7)});
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(loop->take_broken().empty());
  for (Member& member : members) loop->remove_session(member.id);
}

TEST(DispatchLoop, SurvivesSessionsThatComeAndGoInTheMiddleOfTheirTurns) {
  constexpr std::uint32_t kRounds = 300;
  const auto loop = start_loop();
  Member steady(1, 1);
  ASSERT_TRUE(loop->add_session(steady.for_loop()));
  std::atomic<int> in_use{0};
  std::atomic<bool> done{false};
  std::thread runs([&] {
    for (std::uint32_t round = 0; !done; ++round) play(steady, round, 5, in_use);
  });
  std::minstd_rand random(7);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    Member guest(2 + round, 2);
    ASSERT_TRUE(loop->add_session(guest.for_loop()));
    guest.want();
    if (random() % 2 == 0) {
      guest.wait_while(State::wanting);
      if (random() % 2 == 0) guest.move(State::held, State::busy);
    }
    loop->remove_session(guest.id);  // as after SIGKILL
  }
  done = true;
  runs.join();
  loop->remove_session(steady.id);
}

TEST(DispatchLoop, PoliciesChangeUnderRunningWorkers) {
  const auto loop = start_loop();
  Member first(1, 1), second(2, 2);
  for (Member* member : {&first, &second}) ASSERT_TRUE(loop->add_session(member->for_loop()));
  std::atomic<bool> done{false};
  std::array<std::atomic<int>, 2> turns{};
  const auto work = [&](Member& member, std::atomic<int>& count) {
    member.want();
    while (!done) {
      member.wait_while(State::wanting);
      if (member.state() == State::held && member.move(State::held, State::busy)) {
        ++count;
        member.turn().used_ns += 1'000;
        member.give_back(true);
      } else if (member.state() == State::idle) {
        member.want();  // its unused turn was taken back
      }
    }
  };
  std::thread one([&] { work(first, turns[0]); });
  std::thread two([&] { work(second, turns[1]); });
  for (int round = 0; round < 3; ++round) {
    for (const sched::PolicyInfo& policy : sched::all_policies()) {
      const std::array<int, 2> before{turns[0], turns[1]};
      loop->set_policy(std::string(policy.name), std::nullopt);
      while (turns[0] == before[0] || turns[1] == before[1]) std::this_thread::yield();
    }
  }
  done = true;
  one.join();  // a turn that comes after its end is taken back
  two.join();
  EXPECT_TRUE(loop->take_broken().empty());
  for (const Member* member : {&first, &second}) loop->remove_session(member->id);
}

}  // namespace
}  // namespace fairgv::daemon
