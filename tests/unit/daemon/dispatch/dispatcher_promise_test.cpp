// The dispatcher and promises: turns that end though nobody waits, terms beyond the slice, a policy that
// looks again while a turn lasts, and the state of promises through a change of policy.
#include <algorithm>

#include "sched/policies/in_turn.hpp"
#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

constexpr sched::Share kHalf{500'000};

struct DispatcherPromise : Turns {
  void pass_until_deadline() {
    ASSERT_TRUE(dispatcher.deadline());
    now = *dispatcher.deadline();
    dispatcher.expire(now);
  }
  /// A lone worker uses all of each turn that it gets until `end`. Returns the time used.
  std::chrono::nanoseconds serve_alone(FakeWorker& worker, sched::Time end) {
    std::chrono::nanoseconds used = 0ns;
    while (now < end) {
      if (worker.state() != State::held) {
        pass_until_deadline();
        continue;
      }
      EXPECT_GT(worker.slice(), 0ns) << "a turn without an end";
      used += worker.slice();
      run(1, worker, worker.slice(), true);
    }
    return used;
  }
};

TEST_F(DispatcherPromise, ACeilingHoldsForALoneTenant) {
  FakeWorker& worker = add_with(1, {.max = kHalf});
  want(1, worker);
  const auto used = serve_alone(worker, now + 4s);
  EXPECT_GE(used, 1'970ms);
  EXPECT_LE(used, 2'010ms);
  EXPECT_TRUE(dispatcher.take_broken().empty());
}

TEST_F(DispatcherPromise, AWorkerThatGoesOnBeyondABoundedTurnIsAskedForItAndPaysForIt) {
  FakeWorker& worker = add_with(1, {.max = kHalf});
  want(1, worker);
  worker.begin();
  const auto slice = worker.slice();
  now += slice;
  EXPECT_EQ(worker.state(), State::busy);
  pass_until_deadline();
  EXPECT_EQ(worker.state(), State::busy_asked);
  EXPECT_LE(now, dispatcher.device().turn->granted + slice + Dispatcher::kPatience);
  worker.give_back(true);  // without reporting any use
  look(1);
  EXPECT_GE(time_of(1), (slice + Dispatcher::kPatience) * 7 / 8);
}

TEST_F(DispatcherPromise, ACeilingThatIsSetInATurnWithoutAnEndEndsIt) {
  FakeWorker& worker = add(1);
  want(1, worker);
  worker.begin();
  now += 300ms;
  worker.use(300ms);
  dispatcher.set_attributes(TenantId{1}, {.max = kHalf}, now);
  for (int look = 0; look < 10 && worker.state() == State::busy; ++look) pass_until_deadline();
  EXPECT_EQ(worker.state(), State::busy_asked);
}

TEST_F(DispatcherPromise, ANewcomerHasTheDeviceWhileACappedTenantIsHeldBack) {
  FakeWorker& capped = add_with(1, {.max = sched::Share{100'000}});
  FakeWorker& free = add(2);
  want(1, capped);
  run(1, capped, 100ms, true);  // a single command
  EXPECT_EQ(capped.state(), State::wanting);
  want(2, free);
  EXPECT_EQ(free.state(), State::held);
}

TEST_F(DispatcherPromise, ATenantAtItsCeilingIsSeenToBeHeldBackUntilItMayGoOn) {
  for (const char* policy : {"fair", "cap"}) {
    workers.clear();
    dispatcher = Dispatcher(sched::make_policy(policy, 6ms));
    FakeWorker& capped = add_with(1, {.max = sched::Share{100'000}});
    add(2);
    const auto held_back = [&](std::uint32_t tenant) {
      return use_of(dispatcher, TenantId{tenant}, now).held_back;
    };
    want(1, capped);
    EXPECT_FALSE(held_back(1)) << policy;
    run(1, capped, 100ms, true);  // a single command
    EXPECT_EQ(capped.state(), State::wanting);
    EXPECT_TRUE(held_back(1)) << policy;
    EXPECT_FALSE(held_back(2)) << policy << ": it wants nothing";
    for (int look = 0; look < 100 && capped.state() == State::wanting; ++look) pass_until_deadline();
    EXPECT_EQ(capped.state(), State::held);
    EXPECT_FALSE(held_back(1)) << policy;
    run(1, capped, 100ms, false);
    EXPECT_FALSE(held_back(1)) << policy << ": it has nothing to run";
  }
}

TEST_F(DispatcherPromise, TurnsAreSampledAsTheRulesSay) {
  FakeWorker& worker = add(1);
  want(1, worker);
  EXPECT_EQ(worker.promise.sampling, static_cast<std::uint64_t>(sched::Sampling::history));
  TurnRules rules = dispatcher.device().rules;
  rules.sampling = sched::Sampling::always;
  dispatcher.set_rules(rules);
  run(1, worker, 1ms, true);
  EXPECT_EQ(worker.promise.sampling, static_cast<std::uint64_t>(sched::Sampling::always));
}

TEST_F(DispatcherPromise, ATurnBesideALatencyTenantKeepsLittleInFlight) {
  FakeWorker& flood = add(1);
  FakeWorker& latency = add_with(2, {.service = sched::ServiceClass::latency});
  want(1, flood);
  EXPECT_EQ(flood.promise.in_flight_ns, 0U) << "no latency tenant is about";
  flood.begin();
  want(2, latency);
  EXPECT_EQ(flood.state(), State::busy_asked) << "at once";
  run(1, flood, 1ms, true);
  ASSERT_EQ(latency.state(), State::held);
  EXPECT_EQ(latency.promise.in_flight_ns, 0U);
  run(2, latency, 100us, false);
  if (flood.state() == State::wanting) pass_until_deadline();  // the device was kept for a moment
  ASSERT_EQ(flood.state(), State::held);
  EXPECT_EQ(flood.promise.in_flight_ns, 300'000U);
}

TEST_F(DispatcherPromise, SurvivesAChangeOfPolicyAndBack) {
  FakeWorker& worker = add_with(1, {.max = kHalf});
  want(1, worker);
  std::chrono::nanoseconds used = 0ns;
  const auto began = now;
  for (int change = 0; change < 100; ++change) {
    used += serve_alone(worker, now + 7ms);
    // A turn in progress goes on as it began; round-robin would give turns without an end.
    if (worker.state() != State::wanting) continue;
    dispatcher.set_policy(sched::make_policy("fair", 6ms), now);
  }
  EXPECT_LE(used, (now - began) / 2 + 60ms);
}

TEST_F(DispatcherPromise, DebtsSurviveAChangeOfPolicy) {
  FakeWorker& debtor = add(1);
  FakeWorker& other = add(2);
  want(1, debtor);
  debtor.begin();
  want(2, other);
  run(1, debtor, 600ms, true);
  dispatcher.set_policy(sched::make_policy("round-robin", 6ms), now);
  dispatcher.set_policy(sched::make_policy("fair", 6ms), now);
  std::chrono::nanoseconds alone = 0ns;
  while (other.state() == State::held && alone < 2s) {
    alone += 6ms;
    run(2, other, 6ms, true);
  }
  EXPECT_GE(alone, 500ms) << "the other is owed as much";
}

/// Gives turns in order, and looks again after a millisecond.
class ReviewingPolicy final : public sched::InTurnPolicy {
 public:
  explicit ReviewingPolicy(std::vector<sched::Duration>& expected)
      : InTurnPolicy(100ms), expected_(expected) {}
  void begin(sched::TenantId, sched::Time now) override { began_ = now; }
  void expect(sched::TenantId, sched::Duration cost, sched::Time) override { expected_.push_back(cost); }
  std::optional<sched::Time> review_at(sched::TenantId, sched::Time) const override { return began_ + 1ms; }
  bool must_yield(sched::TenantId, sched::Time now) override { return now >= began_ + 1ms; }

 private:
  sched::Duration turn_length() const override { return slice(); }
  std::vector<sched::Duration>& expected_;
  sched::Time began_{};
};

TEST_F(DispatcherPromise, APolicyMayEndALoneTurnInTheMidstOfIt) {
  std::vector<sched::Duration> expected;
  dispatcher = Dispatcher(std::make_unique<ReviewingPolicy>(expected));
  FakeWorker& worker = add(1);
  want(1, worker);
  worker.begin();
  EXPECT_EQ(dispatcher.deadline(), now + 1ms);
  pass_until_deadline();
  EXPECT_EQ(worker.state(), State::busy_asked);
}

TEST_F(DispatcherPromise, APolicyHearsWhatTheNextCommandIsExpectedToTakeWithinABound) {
  std::vector<sched::Duration> expected;
  dispatcher = Dispatcher(std::make_unique<ReviewingPolicy>(expected));
  FakeWorker& worker = add(1);
  worker.promise.next_cost_ns = 700'000;
  want(1, worker);
  worker.begin();
  worker.promise.next_cost_ns = ~std::uint64_t{0};
  worker.give_back(true);
  look(1);
  EXPECT_EQ(expected, (std::vector<sched::Duration>{700us, kMostPredicted}));
}

// ---- caps of a device that is oversold

struct DispatcherCap : Turns {
  DispatcherCap() : Turns("cap") {}
  sched::Share in_force(std::uint32_t tenant) {
    return dispatcher.device().charges.accounts().at(TenantId{tenant}).attributes.max;
  }
};

TEST_F(DispatcherCap, HoldsInsteadOfTheTenantsOwnCeilingUntilItIsTakenAway) {
  add_with(1, {.max = kHalf});
  set_cap(dispatcher, TenantId{1}, sched::Share{200'000}, now);
  EXPECT_EQ(in_force(1), (sched::Share{200'000}));
  dispatcher.set_attributes(TenantId{1}, {.weight = 3, .max = sched::Share{700'000}}, now);
  EXPECT_EQ(in_force(1), (sched::Share{200'000}));
  dispatcher.set_policy(sched::make_policy("fair", 6ms), now);
  dispatcher.set_policy(sched::make_policy("cap", 6ms), now);
  EXPECT_EQ(in_force(1), (sched::Share{200'000}));
  set_cap(dispatcher, TenantId{1}, std::nullopt, now);
  EXPECT_EQ(in_force(1), (sched::Share{700'000}));
  set_cap(dispatcher, TenantId{9}, kHalf, now);  // nobody
}

TEST_F(DispatcherCap, WhatIsUsedOfASecondIsNotRefilledByAHandOver) {
  FakeWorker& worker = add_with(1, {.max = sched::Share{100'000}});
  want(1, worker);
  run(1, worker, 60ms, true);  // six stages' worth
  EXPECT_EQ(worker.state(), State::wanting);
  const TenantBooks books = dispatcher.books(TenantId{1}, now);
  ASSERT_FALSE(books.budget.last_second.empty());
  Dispatcher next(sched::make_policy("cap", 6ms));
  next.add_tenant(TenantId{1}, {.max = sched::Share{100'000}}, now);
  next.restore_books(TenantId{1}, books, now);
  FakeWorker other;
  next.add_session(SessionId{7}, TenantId{1}, {other.turn, &other.promise, other.header}, now);
  other.want();
  next.look(SessionId{7}, now);
  EXPECT_EQ(other.state(), State::wanting);
  ASSERT_TRUE(next.deadline());
  EXPECT_EQ(*next.deadline(), Dispatcher::Time(1'000s) + 600ms);
}

TEST_F(DispatcherCap, ReadingsHaveTheDeviceTimeAndTheUnitsOfSessionsThatAreGone) {
  FakeWorker& worker = add_with(1, {.max = kHalf});
  add_with(2, {});
  want(1, worker);
  run(1, worker, 5ms, true);
  worker.promise.units.store(12);
  now += 1ms;
  auto readings = readings_of(dispatcher, now);
  std::sort(readings.begin(), readings.end(),
            [](const TenantReading& a, const TenantReading& b) { return a.id.value < b.id.value; });
  EXPECT_EQ(readings, (std::vector<TenantReading>{{TenantId{1}, time_of(1), 12}, {TenantId{2}, 0ns, 0}}));
  add_with(3, {.max = kHalf}, 1);
  worker.header.coscheduling.ended_calls.store(4);  // counted by the program
  dispatcher.remove_session(SessionId{1}, now);
  dispatcher.remove_session(SessionId{2}, now);
  EXPECT_EQ(readings_of(dispatcher, now), (std::vector<TenantReading>{{TenantId{1}, time_of(1), 16}}));
}

}  // namespace
}  // namespace fairgv::daemon
