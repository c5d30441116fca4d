// The dispatcher's thread against workers on threads of their own. Run it under ThreadSanitizer.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <thread>
#include <utility>

#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "tests/unit/daemon/dispatch/wake_latency_pipe.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

/// A worker's side of one session on every device: shared memory, a bell, an eventfd.
struct Member {
  explicit Member(std::uint32_t session, std::uint32_t tenant)
      : id{session}, tenant_id{tenant}, knock_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    auto memory = session::TurnMemory::create();
    EXPECT_TRUE(memory);
    turns.emplace(std::move(memory).value());
  }
  /// Its worker sees so many of the host's devices.
  DispatchedSession for_loop(std::uint32_t weight = 1, std::size_t devices = 1) {
    return {id, tenant_id, weight, &turns->page(), &header, knock_fd.get(), DeviceView::first(devices)};
  }
  session::DeviceTurn& turn(std::uint32_t device = 0) { return turns->page().devices[device]; }
  State state(std::uint32_t device = 0) {
    return static_cast<State>(turn(device).state.load(std::memory_order_acquire));
  }
  bool move(State from, State to, std::uint32_t device = 0) {
    auto expected = static_cast<std::uint32_t>(from);
    return turn(device).state.compare_exchange_strong(expected, static_cast<std::uint32_t>(to),
                                                      std::memory_order_acq_rel);
  }
  void knock(std::uint32_t device = 0) { EXPECT_TRUE(session::knock(knock_fd.get())) << device; }
  void want(std::uint32_t device = 0) {
    EXPECT_TRUE(move(State::idle, State::wanting, device));
    knock(device);
  }
  /// Sleeps until the dispatcher has granted or taken something.
  void wait_while(State state_now, std::uint32_t device = 0) {
    ring::wait(header.worker_bell, budget, [&] { return state(device) != state_now; });
  }
  /// By looking: a busy worker that is asked for its turn is not rung.
  void yield_until_asked(std::uint32_t device = 0) {
    while (state(device) == State::busy) std::this_thread::yield();
    EXPECT_EQ(state(device), State::busy_asked);
  }
  void give_back(bool more, std::uint32_t device = 0) {
    turn(device).state.store(static_cast<std::uint32_t>(more ? State::wanting : State::idle),
                             std::memory_order_release);
    knock(device);
  }

  SessionId id;
  TenantId tenant_id;
  std::optional<session::TurnMemory> turns;
  ring::SegmentHeader header;
  ring::SpinBudget budget{0ns};  // never spins: what must be rung for and is not, hangs
  UniqueFd knock_fd;
};

std::unique_ptr<DispatchLoop> start_loop(std::size_t devices = 1, std::chrono::nanoseconds slice = 6ms) {
  DeviceRules rules;
  rules.common.slices = sched::SliceRule::constant(slice);
  auto loop = DispatchLoop::start(rules);
  EXPECT_TRUE(loop);
  while (devices-- > 0) loop.value()->add_device();
  return std::move(loop).value();
}

std::vector<std::optional<SessionId>> holders(DispatchLoop& loop) {
  std::vector<std::optional<SessionId>> list;
  for (const DeviceSharing& device : loop.looks().devices()) list.push_back(device.holder);
  return list;
}

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

TEST(DispatchLoop, ASuspendedSessionGetsNoTurnAndIsEntitledToNothing) {
  const auto loop = start_loop(2);
  Member a(1, 1);
  Member b(2, 2);
  DispatchedSession from_the_start = a.for_loop();
  from_the_start.suspended = true;
  ASSERT_TRUE(loop->add_session(from_the_start));
  ASSERT_TRUE(loop->add_session(b.for_loop(3)));
  const auto shares = [&] {
    auto usage = loop->looks().usage({a.tenant_id, b.tenant_id});
    return std::pair(usage[a.tenant_id].share, usage[b.tenant_id].share);
  };
  EXPECT_EQ(shares(), std::pair(0.0, 1.0));
  a.want(0);
  b.want(0);
  b.wait_while(State::wanting, 0);
  EXPECT_EQ(loop->looks().devices()[0].holder, b.id);
  // The turn that b has not used is taken back, and a may run.
  loop->set_suspended(b.id, true, 3);
  loop->set_suspended(a.id, false, 1);
  a.wait_while(State::wanting, 0);
  EXPECT_EQ(loop->looks().devices()[0].holder, a.id);
  EXPECT_EQ(shares(), std::pair(1.0, 0.0));
  loop->set_suspended(b.id, false, 3);
  EXPECT_EQ(shares(), std::pair(0.25, 0.75));
  loop->set_suspended(SessionId{77}, true, 1);  // one that is not there
  loop->remove_session(a.id);
  loop->remove_session(b.id);
  EXPECT_EQ(shares(), std::pair(0.0, 0.0));
}

TEST(DispatchLoop, HandsEachDeviceAroundOnItsOwn) {
  const auto loop = start_loop(2);
  Member a(1, 1);
  Member b(2, 2);
  ASSERT_TRUE(loop->add_session(a.for_loop(1, 2)));
  ASSERT_TRUE(loop->add_session(b.for_loop(1, 2)));
  a.want(0);
  b.want(1);
  a.wait_while(State::wanting, 0);
  b.wait_while(State::wanting, 1);
  EXPECT_EQ(a.state(0), State::held);
  EXPECT_EQ(b.state(1), State::held);
  loop->remove_session(a.id);
  loop->remove_session(b.id);
}

TEST(DispatchLoop, DevicesThatAreTheSameHardwareHaveOneTurnAndOneBook) {
  const auto loop = start_loop(1);
  loop->add_device({}, 0);
  Member a(1, 1);
  Member b(2, 2);
  ASSERT_TRUE(loop->add_session(a.for_loop(1, 2)));
  ASSERT_TRUE(loop->add_session(b.for_loop(1, 2)));
  a.want(0);
  a.wait_while(State::wanting, 0);
  ASSERT_TRUE(a.move(State::held, State::busy, 0));
  b.want(1);
  // The one asks for what the other has, though it is another device to it.
  a.yield_until_asked(0);
  EXPECT_EQ(holders(*loop), (std::vector<std::optional<SessionId>>{a.id, std::nullopt}));
  EXPECT_EQ(b.state(1), State::wanting);
  std::this_thread::sleep_for(5ms);
  a.turn(0).used_ns = 5'000'000;
  a.give_back(false, 0);
  b.wait_while(State::wanting, 1);
  EXPECT_EQ(holders(*loop), (std::vector<std::optional<SessionId>>{std::nullopt, b.id}));
  auto usage = loop->looks().usage({a.tenant_id, b.tenant_id});
  EXPECT_GE(usage[a.tenant_id].devices[0].device_time, 5ms);
  EXPECT_EQ(usage[a.tenant_id].devices[1].device_time, 0ns);
  EXPECT_EQ(usage[b.tenant_id].devices[0].waits.count(), 1u);
  EXPECT_EQ(usage[b.tenant_id].devices[1].waits.count(), 0u);
  // A session may want both at once: then it has one after the other.
  ASSERT_TRUE(b.move(State::held, State::busy, 1));
  b.want(0);
  b.yield_until_asked(1);
  b.turn(1).used_ns = 1'000'000;
  b.give_back(false, 1);
  b.wait_while(State::wanting, 0);
  EXPECT_EQ(b.state(0), State::held);
  const SessionBooks books = loop->looks().session_books(b.id);
  EXPECT_EQ(books.used_ns, (std::vector<std::uint64_t>{0, 1'000'000}));
  EXPECT_TRUE(books.turns[0]);
  EXPECT_FALSE(books.turns[1]);
  loop->remove_session(a.id);
  loop->remove_session(b.id);
  EXPECT_EQ(loop->looks().devices()[0].holder, std::nullopt);
}

TEST(DispatchLoop, EachWorkerCountsTheDevicesThatItSees) {
  const auto loop = start_loop(1);
  Member before(1, 1);
  Member after(2, 2);
  ASSERT_TRUE(loop->add_session(before.for_loop(3)));
  before.want(0);
  before.wait_while(State::wanting, 0);
  loop->add_device();
  EXPECT_EQ(before.state(0), State::held) << "the others go on as they were";
  auto of_both = after.for_loop();
  of_both.devices = DeviceView({1, 0});
  ASSERT_TRUE(loop->add_session(of_both));
  after.want(0);
  after.wait_while(State::wanting, 0);
  EXPECT_EQ(holders(*loop), (std::vector<std::optional<SessionId>>{before.id, after.id}));
  after.want(1);
  after.wait_while(State::wanting, 1);
  EXPECT_EQ(before.state(0), State::idle) << "an unused turn is taken for the newcomer";
  EXPECT_EQ(holders(*loop), (std::vector<std::optional<SessionId>>{after.id, after.id}));
  EXPECT_EQ(loop->looks().usage({TenantId{1}})[TenantId{1}].devices.size(), 2U);
  loop->remove_session(before.id);
  loop->remove_session(after.id);
}

TEST(DispatchLoop, TakesAFreshTurnThatNobodyUsesForTheNewcomer) {
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
  // However late this thread or the other is: whoever has the device keeps it for longer than its slice.
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
          each.turn().used_ns += 5'000'000;  // what it will have used when its turn is nearly over
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

TEST(DispatchLoop, ForgetsATenantWithoutDebtOnly) {
  const auto loop = start_loop();
  Member member(1, 1);
  ASSERT_TRUE(loop->add_session(member.for_loop()));
  EXPECT_FALSE(loop->forget_if_clear(TenantId{1}));
  loop->remove_session(member.id);
  EXPECT_TRUE(loop->forget_if_clear(TenantId{1}));
  EXPECT_TRUE(loop->looks().usage({TenantId{1}}).empty());
}

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
          // Late: meanwhile the turn may be taken back.
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
  // Out of the way of the others, whatever the dispatcher does at the same time.
  for (;;) {
    if (member.state() == State::idle) return;
    if (member.state() == State::wanting) member.wait_while(State::wanting);
    if (member.move(State::held, State::busy)) member.give_back(false);
  }
}

// A read of what the worker shares is as long as the worker likes: it can let reads block, and read the knock
// away between the loop's wait and the loop's read.
TEST(DispatchLoop, NeverReadsWhatAWorkerKnocks) {
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

TEST(DispatchLoop, AWorkerThatReadsItsKnocksAwayFreezesNobody) {
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
  // One of the two may be at a read just then.
  for (int i = 0; i < 2; ++i) hostile.knock();
  knocks.join();
  hostile.knock();
  reads.join();
  for (const Member* member : {&hostile, &victim}) loop->remove_session(member->id);
}

TEST(DispatchLoop, NobodyWaitsForEverAndNoTwoHaveTheDevice) {
  constexpr int kWorkers = 5;
  constexpr int kTurns = 1'500;
  const auto loop = start_loop();
  std::deque<Member> members;
  std::atomic<int> in_use{0};
  for (std::uint32_t i = 1; i <= kWorkers; ++i) {
    members.emplace_back(i, 1 + i % 3);  // some tenants have two sessions
    ASSERT_TRUE(loop->add_session(members.back().for_loop(i)));
  }
  // If a session that wants the device were forgotten while nobody holds it, this would never end.
  std::vector<std::thread> threads;
  for (Member& member : members) threads.emplace_back([&] { play(member, member.id.value, kTurns, in_use); });
  for (int i = 0; i < 200; ++i) {
    (void)loop->looks().usage({TenantId{1}, TenantId{2}, TenantId{3}});
    loop->set_weight(TenantId{1}, 1 + static_cast<std::uint32_t>(i % 7));
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

TEST(DispatchLoop, EachDeviceHasItsOwnPolicy) {
  DeviceRules rules;
  rules.by_index[1] = {"fifo", sched::kNonPreemptiveSlice};
  auto loop = DispatchLoop::start(rules);
  ASSERT_TRUE(loop);
  for (int i = 0; i < 3; ++i) loop.value()->add_device();
  const auto policies = [&] {
    std::vector<std::string> names;
    for (const DeviceSharing& device : loop.value()->looks().devices()) names.push_back(device.policy);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(policies(), (Names{"fair", "fifo", "fair"}));
  loop.value()->set_policy("credit-hs", 2);
  EXPECT_EQ(policies(), (Names{"fair", "fifo", "credit-hs"}));
  loop.value()->set_policy("round-robin", std::nullopt);
  EXPECT_EQ(policies(), (Names{"round-robin", "round-robin", "round-robin"}));
  loop.value()->set_rules(rules);  // the configuration was read again
  EXPECT_EQ(policies(), (Names{"fair", "fifo", "fair"}));
}

TEST(DispatchLoop, ProcessorsWakeUpSoonWhileSeveralWantADeviceThatAsksForIt) {
  WakeLatencyPipe pipe;
  using Seen = WakeLatencyPipe::Seen;
  DeviceRules rules;
  rules.common.wake_latency_us = 7;
  auto loop = DispatchLoop::start(rules, pipe.path());
  ASSERT_TRUE(loop);
  loop.value()->add_device();
  Member holder(1, 1), waiter(2, 2);
  for (Member* member : {&holder, &waiter}) ASSERT_TRUE(loop.value()->add_session(member->for_loop()));
  holder.want();
  holder.wait_while(State::wanting);
  ASSERT_TRUE(holder.move(State::held, State::busy));
  EXPECT_EQ(pipe.look(), Seen(std::nullopt, false)) << "nobody else wants it";
  waiter.want();
  holder.yield_until_asked();
  // The bounds only keep a broken loop from hanging the test.
  const auto wait_for = [&](const Seen& wanted) {
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    Seen seen;
    do {
      seen = pipe.look();
    } while (seen != wanted && std::chrono::steady_clock::now() < give_up);
    return seen;
  };
  EXPECT_EQ(wait_for(Seen(7, true)), Seen(7, true));
  loop.value()->remove_session(holder.id);
  waiter.wait_while(State::wanting);
  EXPECT_EQ(wait_for(Seen(std::nullopt, false)), Seen(std::nullopt, false)) << "the waiter has it alone";
  loop.value()->remove_session(waiter.id);
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
  one.join();  // a turn that comes for one that has ended is taken back from it
  two.join();
  EXPECT_TRUE(loop->take_broken().empty());
  for (const Member* member : {&first, &second}) loop->remove_session(member->id);
}

}  // namespace
}  // namespace fairgv::daemon
