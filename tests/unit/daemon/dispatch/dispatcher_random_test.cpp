// The dispatcher under random workers and policies that change: no session is ever left waiting for good, and
// at most one session has the turn. FAIRGV_TEST_SEED=<the printed number> repeats a run.
#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "tests/harness/seed.hpp"
#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

/// By the clock, of a tenant of weight 9 beside one of weight 1 under `acc-credit`, with ticks of 10 ms.
constexpr std::chrono::milliseconds kLongestTurn{100};

using namespace std::chrono_literals;

struct RandomTurns : Turns {
  RandomTurns() : random(harness::printed_seed()) {}

  std::uint32_t below(std::uint32_t end) {
    return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(random);
  }
  FakeWorker& worker(std::uint32_t session) { return workers.at(session - 1); }

  void add_one() {
    const auto session = static_cast<std::uint32_t>(workers.size() + 1);
    add(session, 1 + below(9), 1 + below(8));
    alive.push_back(session);
  }
  void expire_due() {
    while (dispatcher.deadline() && *dispatcher.deadline() <= now) dispatcher.expire(now);
  }
  void pass(std::chrono::nanoseconds time) {
    now += time;
    expire_due();
  }

  /// The moves of an honest worker in its state.
  void move(std::uint32_t session) {
    FakeWorker& moving = worker(session);
    switch (moving.state()) {
      case State::idle:
        return want(session, moving);
      case State::wanting:
        return look(session);  // a spurious knock
      case State::held:
        return moving.begin();
      case State::busy:
      case State::busy_asked: {
        const std::chrono::nanoseconds time = std::chrono::microseconds(1 + below(9'000));
        now += time;
        moving.use(time);
        if (moving.state() == State::busy && moving.slice() == 0ns && below(2) == 0) {
          EXPECT_TRUE(moving.rest());
        } else {
          moving.give_back(below(3) > 0);
          look(session);
        }
      }
    }
  }
  void step() {
    const std::uint32_t kind = below(100);
    const std::uint32_t session = alive[below(static_cast<std::uint32_t>(alive.size()))];
    if (kind < 70) return move(session);
    if (kind < 85) return pass(std::chrono::microseconds(below(3'000)));
    if (kind < 90) return dispatcher.charge_holder(now);
    if (kind < 92) return suspend_or_not(session);
    if (kind < 94) return dispatcher.set_attributes(TenantId{1 + below(8)}, {1 + below(9)}, now);
    if (kind < 97) {
      const auto policies = sched::all_policies();
      const sched::PolicyInfo& policy = policies[below(static_cast<std::uint32_t>(policies.size()))];
      return dispatcher.set_policy(sched::make_policy(policy.name, 1ms * (1 + below(10))), now);
    }
    if (alive.size() > 2 && below(2) == 0) {
      std::erase(alive, session);
      return dispatcher.remove_session(SessionId{session}, now);
    }
    if (alive.size() < 12) add_one();
  }
  void suspend_or_not(std::uint32_t session) {
    const bool suspends = suspended.insert(session).second;
    if (!suspends) suspended.erase(session);
    dispatcher.set_suspended(SessionId{session}, suspends, now);
  }
  bool anybody_waits() {
    return std::any_of(alive.begin(), alive.end(), [&](auto each) {
      return worker(each).state() == State::wanting && !suspended.contains(each);
    });
  }
  void check() {
    const auto holders = std::count_if(alive.begin(), alive.end(), [&](std::uint32_t each) {
      return worker(each).state() != State::idle && worker(each).state() != State::wanting;
    });
    ASSERT_EQ(holders, holder_of(dispatcher) ? 1 : 0);
    ASSERT_TRUE(dispatcher.take_broken().empty());
    // A suspended session keeps its turn until it gives the turn back, and gets no other.
    if (const auto holder = holder_of(dispatcher); holder && suspended.contains(holder->value)) {
      ASSERT_NE(worker(holder->value).state(), State::idle);
      ASSERT_TRUE(dispatcher.deadline());
    }
    // A session that waits is served after some time without any other event, or when the holder gives its
    // turn back.
    if (anybody_waits()) {
      ASSERT_TRUE(dispatcher.deadline());
      ASSERT_LE(*dispatcher.deadline(), now + kLongestTurn);
    }
  }
  /// All sessions give their turns back and want nothing more, until none waits.
  void finish() {
    for (int turn = 0; anybody_waits() || holder_of(dispatcher); ++turn) {
      ASSERT_LT(turn, 10'000) << "somebody waits for ever";
      if (const auto holder = holder_of(dispatcher)) {
        FakeWorker& runs = worker(holder->value);
        if (runs.state() == State::held) runs.begin();
        runs.give_back(false);
        look(holder->value);
      } else {
        ASSERT_TRUE(dispatcher.deadline());
        pass(std::max<std::chrono::nanoseconds>(*dispatcher.deadline() - now, 0ns));
      }
    }
  }

  std::mt19937_64 random;
  std::vector<std::uint32_t> alive;
  std::set<std::uint32_t> suspended;
};

TEST_F(RandomTurns, NobodyWaitsForEverAndOneAtMostHasTheTurn) {
  for (int i = 0; i < 5; ++i) add_one();
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 100; ++i) {
      step();
      expire_due();
      check();
      if (HasFatalFailure()) return;
    }
    finish();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace fairgv::daemon
