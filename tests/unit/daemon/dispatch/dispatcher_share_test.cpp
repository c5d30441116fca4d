// Shares of tenants in simulated time: weights, sessions, debt, rest, charges and counters.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "runtime/daemon/dispatch/device_use.hpp"
#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

TEST_F(Turns, SharesFollowTheWeights) {
  struct Greedy {
    std::uint32_t id;
    FakeWorker* worker;
    std::chrono::nanoseconds kernel;  // never the same: turns overrun by different times
  };
  const std::vector<Greedy> all{{1, &add(1, 1), 1'700us}, {2, &add(2, 2), 900us}, {3, &add(3, 3), 4'100us}};
  for (const Greedy& each : all) want(each.id, *each.worker);
  const auto start = now;
  while (now - start < 60s) {
    const std::uint32_t holder = holder_of(dispatcher)->value;
    const Greedy& each = all[holder - 1];
    std::chrono::nanoseconds used{0};
    do used += each.kernel;
    while (used < each.worker->slice());
    run(each.id, *each.worker, used, true);
  }
  const double unit = std::chrono::duration<double>(now - start).count() / 6;
  for (const Greedy& each : all) {
    EXPECT_NEAR(std::chrono::duration<double>(time_of(each.id)).count(), unit * each.id, 0.02) << each.id;
  }
}

TEST_F(Turns, ANewWeightHoldsAtOnce) {
  FakeWorker& a = add(1, 1);
  FakeWorker& b = add(2, 1);
  want(1, a);
  want(2, b);
  const auto share_of_second = [&] {
    const auto before = time_of(2);
    const auto start = now;
    while (now - start < 10s) {
      const std::uint32_t holder = holder_of(dispatcher)->value;
      run(holder, holder == 1 ? a : b, 5ms, true);
    }
    return std::chrono::duration<double>(time_of(2) - before) / std::chrono::duration<double>(now - start);
  };
  EXPECT_NEAR(share_of_second(), 0.5, 0.01);
  dispatcher.set_attributes(TenantId{2}, {4}, now);
  EXPECT_NEAR(share_of_second(), 0.8, 0.01);
}

TEST_F(Turns, SessionsOfATenantShareItsTurns) {
  FakeWorker& first = add(1, 1, 10);
  FakeWorker& second = add(2, 1, 10);
  FakeWorker& other = add(3, 1, 20);
  want(1, first);
  want(2, second);
  want(3, other);
  std::array<int, 4> turns{};
  for (int i = 0; i < 400; ++i) {
    const std::uint32_t holder = holder_of(dispatcher)->value;
    ++turns[holder];
    run(holder, holder == 1 ? first : holder == 2 ? second : other, 6ms, true);
  }
  EXPECT_NEAR(turns[3], 200, 2);  // the tenant with two sessions gets no more
  EXPECT_NEAR(turns[1], 100, 2);
  EXPECT_NEAR(turns[2], 100, 2);
}

TEST_F(Turns, ASleeperDoesNotSaveUpTime) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  run(1, a, 10s, true);  // alone for long
  a.begin();
  want(2, b);
  run(1, a, 1ms, true);
  std::chrono::nanoseconds before = time_of(1);
  const auto start = now;
  while (now - start < 1s) {
    const std::uint32_t holder = holder_of(dispatcher)->value;
    run(holder, holder == 1 ? a : b, 5ms, true);
  }
  EXPECT_NEAR(static_cast<double>((time_of(1) - before) / 1ms), 500, 15);
}

TEST_F(Turns, PausesBetweenTwoKernelsTakeNothingFromAHeavyTenant) {
  // Each session gives its turn back with nothing to issue, and comes back a moment later: an interactive
  // program.
  FakeWorker* const both[] = {&add(1, 1), &add(2, 3)};
  std::chrono::nanoseconds kept[] = {0ns, 0ns};
  want(1, *both[0]);
  want(2, *both[1]);
  for (int turn = 0; turn < 4'000; ++turn) {
    const std::uint32_t tenant = holder_of(dispatcher) == SessionId{1} ? 0 : 1;
    run(tenant + 1, *both[tenant], 6ms, false);
    if (!holder_of(dispatcher)) kept[tenant] += 200us;
    now += 200us;
    want(tenant + 1, *both[tenant]);
  }
  // No other tenant could use the device while it was kept.
  const auto had = [&](std::uint32_t tenant) {
    return static_cast<double>((time_of(tenant + 1) + kept[tenant]).count());
  };
  EXPECT_GT(kept[1], 100ms);
  EXPECT_NEAR(had(1) / had(0), 3.0, 0.02);
}

TEST_F(Turns, DebtOutlivesTheSession) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  want(2, b);
  run(1, a, 1s, false);  // a long overrun, and away
  dispatcher.remove_session(SessionId{1}, now);
  EXPECT_FALSE(may_forget(dispatcher, TenantId{1}));
  FakeWorker& again = add(3, 1, 1);
  b.begin();
  want(3, again);
  const auto start = now;
  while (time_of(1) == 1s) {
    const std::uint32_t holder = holder_of(dispatcher)->value;
    run(holder, holder == 2 ? b : again, 6ms, true);
  }
  EXPECT_GE(now - start, 990ms);
}

/// A has run alone for so long that B is far behind; then the device's last turn is a short turn of B's.
class AfterALongTurn : public Turns {
 protected:
  AfterALongTurn() {
    want(1, a);
    want(2, b);
    look(1);
    run(1, a, 600ms, false);
    run(2, b, 1ms, false);
  }

  /// Both want the device, and B has it: the number of B's turns before A's next.
  int turns_until_a() {
    for (int turns = 1;; ++turns) {
      if (a.state() == State::held || turns == 1'000) return turns;
      run(2, b, 6ms, true);
    }
  }
  void both_want_it() {
    want(2, b);
    want(1, a);
  }

  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
};

TEST_F(AfterALongTurn, TheTenantThatIsBehindIsServedUntilTheyAreEven) {
  both_want_it();
  EXPECT_NEAR(turns_until_a(), 100, 2);
}

TEST_F(AfterALongTurn, ALongRestOfTheDeviceCancelsTheDebt) {
  now += 2s;
  both_want_it();
  EXPECT_LE(turns_until_a(), 2);
}

TEST_F(AfterALongTurn, ARestInAnUnusedTurnCountsAsSoonAsTheTurnIsCharged) {
  want(2, b);
  ASSERT_EQ(b.state(), State::held);
  now += 2s;
  dispatcher.charge_holder(now);
  b.begin();
  want(1, a);
  EXPECT_LE(turns_until_a(), 2);
}

TEST_F(AfterALongTurn, ALongCommandIsNoRest) {
  want(2, b);
  b.begin();
  now += 300ms;
  dispatcher.charge_holder(now);
  want(1, a);
  b.use(300ms);
  EXPECT_NEAR(turns_until_a(), 50, 2);
}

TEST_F(Turns, AReportBeyondTheTimeOfTheTurnIsCapped) {
  FakeWorker& a = add(1);
  want(1, a);
  a.begin();
  now += 5ms;
  a.use(1h);
  dispatcher.charge_holder(now);
  EXPECT_EQ(time_of(1), 5ms);
}

TEST_F(Turns, ALateReportOfALongTurnIsChargedInFull) {
  FakeWorker& a = add(1);
  want(1, a);
  a.begin();
  now += 900ms;
  dispatcher.charge_holder(now);  // a look before the worker drained
  now += 100ms;
  a.use(1s);
  dispatcher.charge_holder(now);
  EXPECT_EQ(time_of(1), 1s);
}

TEST_F(Turns, CountersOutliveTheSession) {
  FakeWorker& a = add(1);
  a.turn.launches = 7;
  a.turn.syncs = 3;
  EXPECT_EQ(use_of(dispatcher, TenantId{1}, now).work.launches, 7u);
  dispatcher.remove_session(SessionId{1}, now);
  EXPECT_EQ(use_of(dispatcher, TenantId{1}, now).work.launches, 7u);
  EXPECT_EQ(use_of(dispatcher, TenantId{1}, now).work.syncs, 3u);
}

TEST_F(Turns, RecentTimeCountsTheTurnInProgress) {
  FakeWorker& a = add(1);
  want(1, a);
  a.begin();
  now += 10s;
  dispatcher.charge_holder(now);
  EXPECT_GT(recent_device_time(dispatcher, TenantId{1}, now), 450ms);
  EXPECT_EQ(time_of(1), 0ns);
}

}  // namespace
}  // namespace fairgv::daemon
