// The dispatcher under every policy: it carries out the policy's decisions, with every kind of turns.
#include <map>

#include "sched/policies/in_turn.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

struct PolicyTurns : Turns, testing::WithParamInterface<sched::PolicyInfo> {
  PolicyTurns() : Turns(GetParam().name) {}

  FakeWorker& worker(SessionId session) { return workers.at(session.value - 1); }

  /// Sessions 1, 2, ... with these weights; all want the device.
  void start(std::initializer_list<std::uint32_t> weights) {
    std::uint32_t session = 0;
    for (const std::uint32_t weight : weights) add(++session, weight);
    for (std::uint32_t i = 1; i <= session; ++i) want(i, worker(SessionId{i}));
  }
  void expire_due() {
    while (dispatcher.deadline() && *dispatcher.deadline() <= now) dispatcher.expire(now);
  }
  void pass_until_deadline() {
    ASSERT_TRUE(dispatcher.deadline());
    now = *dispatcher.deadline();
    dispatcher.expire(now);
  }
  /// The holder runs commands of 1 ms until its turn is over, and wants the device again.
  void serve_turn() {
    const auto holder = holder_of(dispatcher);
    if (!holder) return pass_until_deadline();
    FakeWorker& runs = worker(*holder);
    runs.begin();
    for (std::chrono::nanoseconds used = 0ns; runs.state() == State::busy;) {
      now += 1ms;
      runs.use(1ms);
      used += 1ms;
      expire_due();
      if (runs.slice() > 0ns && used >= runs.slice()) break;
    }
    runs.give_back(true);
    look(holder->value);
  }
  std::map<std::uint32_t, double> shares_within(std::chrono::nanoseconds time) {
    std::map<std::uint32_t, double> shares;
    for (std::uint32_t i = 1; i <= workers.size(); ++i) shares[i] = -used_ms(i);
    const auto start = now;
    while (now - start < time) serve_turn();
    double all = 0;
    for (auto& [id, share] : shares) all += share += used_ms(id);
    for (auto& [id, share] : shares) share /= all;
    return shares;
  }
  double used_ms(std::uint32_t tenant) {
    return std::chrono::duration<double, std::milli>(time_of(tenant)).count();
  }
};

TEST_P(PolicyTurns, ALoneTenantIsNeitherMeasuredNorInterrupted) {
  FakeWorker& a = add(1);
  want(1, a);
  EXPECT_EQ(a.state(), State::held);
  EXPECT_EQ(a.slice(), 0ns);
  EXPECT_EQ(dispatcher.deadline(), std::nullopt);
}

TEST_P(PolicyTurns, TurnsByTheClockHaveADriversQueueInFlightUnlessThePolicySaysOtherwise) {
  const auto policy = sched::make_policy(GetParam().name, 6ms);
  policy->add(TenantId{1}, {}, now);
  policy->wake(TenantId{1}, now);
  const sched::Turn turn = *policy->next(now).turn;
  const bool by_clock = turn.end == sched::TurnEnd::clock;
  FakeWorker& a = add(1);
  want(1, a);
  EXPECT_EQ(a.turn.depth.load(), turn.depth > 0 ? turn.depth : by_clock ? sched::kDriverQueue : 0U);
}

TEST_P(PolicyTurns, ANewcomerIsServedWithinASliceOfTheLoneOne) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  now += 2ms;
  want(2, b);
  const auto came = now;
  while (a.state() == State::busy) pass_until_deadline();
  EXPECT_EQ(a.state(), State::busy_asked);
  EXPECT_LE(now - came, 6ms);
  a.give_back(false);
  look(1);
  while (b.state() == State::wanting) pass_until_deadline();
  // With fixed turns the next turn may be the first tenant's again.
  EXPECT_LE(now - came, GetParam().name == "strict-cosched" ? 12ms : 6ms);
}

TEST_P(PolicyTurns, EverybodyGetsWhatThePolicyPromises) {
  start({1, 2, 3});
  for (const auto& [id, share] : shares_within(30s)) {
    EXPECT_NEAR(share, GetParam().weighted ? id / 6.0 : 1.0 / 3, 0.01) << id;
  }
}

TEST_P(PolicyTurns, ANewWeightHoldsAtOnce) {
  start({1, 1});
  EXPECT_NEAR(shares_within(10s)[2], 0.5, 0.01);
  dispatcher.set_attributes(TenantId{2}, {4}, now);
  EXPECT_NEAR(shares_within(10s)[2], GetParam().weighted ? 0.8 : 0.5, 0.01);
}

TEST_P(PolicyTurns, TenantsCarryOverToEveryOtherPolicyWithTheirWeights) {
  for (const sched::PolicyInfo& other : sched::all_policies()) {
    dispatcher = Dispatcher(sched::make_policy(GetParam().name, 6ms));
    workers.clear();
    start({1, 3});
    for (int turn = 0; turn < 10; ++turn) serve_turn();
    const auto holder = holder_of(dispatcher);
    dispatcher.set_policy(sched::make_policy(other.name, 6ms), now);
    EXPECT_EQ(holder_of(dispatcher), holder) << other.name;
    EXPECT_NEAR(shares_within(10s)[2], other.weighted ? 0.75 : 0.5, 0.01) << other.name;
    EXPECT_TRUE(dispatcher.take_broken().empty());
  }
}

TEST_P(PolicyTurns, APolicyMayChangeWhileNobodyWantsTheDevice) {
  FakeWorker& a = add(1);
  dispatcher.set_policy(sched::make_policy("round-robin", 6ms), now);
  want(1, a);
  EXPECT_EQ(a.state(), State::held);
}

TEST_P(PolicyTurns, AHolderThatPausesKeepsTheDeviceOnlyWhereThePolicySaysSo) {
  start({1, 1});
  serve_turn();
  const SessionId second = *holder_of(dispatcher);
  FakeWorker& pausing = worker(second);
  FakeWorker& other = worker(SessionId{3 - second.value});
  const auto began = now;
  pausing.begin();
  now += 1ms;
  pausing.use(1ms);
  if (pausing.slice() > 0ns || pausing.promise.gives_back != 0) {
    pausing.give_back(false);
  } else {
    EXPECT_TRUE(pausing.rest());  // nobody has asked: it holds the turn
  }
  look(second.value);
  while (other.state() == State::wanting) pass_until_deadline();
  // A reserve of `timegraph` may leave the device idle, and a pause does not.
  if (GetParam().work_conserving || GetParam().name == "timegraph") {
    EXPECT_LE(now - began, 1'500us);
  } else {
    EXPECT_EQ(now - began, 6ms);
  }
}

TEST_P(PolicyTurns, TheDeadHoldersTurnIsTheNextOnes) {
  start({1, 1, 1});
  const SessionId dead = *holder_of(dispatcher);
  worker(dead).begin();
  now += 1ms;
  dispatcher.remove_session(dead, now);
  while (!holder_of(dispatcher)) pass_until_deadline();
  EXPECT_NE(holder_of(dispatcher), dead);
}

TEST_P(PolicyTurns, AWorkerThatNeverUsesItsTurnDoesNotKeepTheOthersWaiting) {
  start({1, 1, 1});
  serve_turn();
  const SessionId stopped = *holder_of(dispatcher);
  const auto granted = now;
  while (holder_of(dispatcher) == stopped || !holder_of(dispatcher)) pass_until_deadline();
  EXPECT_LE(now - granted, Dispatcher::kPatience);
}

// Policies are sanitized by tests of their own.
INSTANTIATE_TEST_SUITE_P(All, PolicyTurns,
                         testing::ValuesIn(sched::all_policies().begin(),
                                           harness::kSanitized ? sched::all_policies().begin() + 2
                                                               : sched::all_policies().end()),
                         [](const auto& test) {
                           std::string name(test.param.name);
                           std::erase(name, '-');
                           return name;
                         });

/// A policy by which a newcomer preempts at once.
class ImpatientPolicy final : public sched::InTurnPolicy {
 public:
  using InTurnPolicy::InTurnPolicy;
  std::optional<sched::Time> preempts(sched::TenantId, sched::TenantId, sched::Time now) const override {
    return now;
  }

 private:
  sched::Duration turn_length() const override { return slice(); }
};

TEST_F(Turns, ANewcomerThatThePolicyPrefersEndsAMeasuredTurnEarly) {
  dispatcher = Dispatcher(std::make_unique<ImpatientPolicy>(6ms));
  FakeWorker& b = add(2);
  take_over(add(1), b);
  ASSERT_EQ(b.slice(), 6ms);
  now += 1ms;
  want(3, add(3));
  EXPECT_EQ(b.state(), State::busy_asked);
  EXPECT_EQ(holder_of(dispatcher), SessionId{2}) << "until its commands have ended";
}

/// A policy that keeps the device for a tenant that has paused, whoever else comes.
class PatientPolicy final : public sched::InTurnPolicy {
 public:
  using InTurnPolicy::InTurnPolicy;
  std::optional<sched::Time> pause(sched::TenantId, sched::Time now) override { return now + 1ms; }

 private:
  sched::Duration turn_length() const override { return slice(); }
};

TEST_F(Turns, ANewcomerThatThePolicyDoesNotPreferLeavesAKeptDeviceAlone) {
  dispatcher = Dispatcher(std::make_unique<PatientPolicy>(6ms));
  FakeWorker& a = add(1);
  want(1, a);
  a.begin();
  want(2, add(2));
  run(1, a, 1ms, false);
  EXPECT_FALSE(holder_of(dispatcher));
  want(3, add(3));
  EXPECT_FALSE(holder_of(dispatcher));
  ASSERT_TRUE(dispatcher.deadline());
  dispatcher.expire(now = *dispatcher.deadline());
  EXPECT_EQ(holder_of(dispatcher), SessionId{2});
}

TEST_F(Turns, ATurnIsAskedForAfterAQuarterOfItWhenATenantNeedsOnlyAMoment) {
  FakeWorker& b = add(2);
  FakeWorker& c = add(3);
  want(3, c);
  run(3, c, 100us, false);  // for a moment
  take_over(add(1), b);
  const auto granted = now;
  now += 100us;
  want(3, c);
  EXPECT_EQ(b.state(), State::busy);
  ASSERT_TRUE(dispatcher.deadline());
  EXPECT_EQ(*dispatcher.deadline(), granted + 1500us);
  now = *dispatcher.deadline();
  dispatcher.expire(now);
  EXPECT_EQ(b.state(), State::busy_asked);
  run(2, b, 1ms, true);
  EXPECT_EQ(c.state(), State::held);
}

struct StrictTurns : Turns {
  StrictTurns() : Turns("strict-cosched") {}
};

TEST_F(StrictTurns, TheDeviceIsIdleInTheTurnsOfATenantThatComputesOnTheHost) {
  for (const std::uint32_t session : {1U, 2U, 3U}) want(session, add(session));
  run(1, workers[0], 1ms, false);  // and computes on the host
  int idle_turns = 0;
  for (const auto end = now + 72ms; now < end;) {
    const auto holder = holder_of(dispatcher);
    idle_turns += holder ? 0 : 1;
    if (holder) workers[holder->value - 1].begin();
    ASSERT_TRUE(dispatcher.deadline());
    now = *dispatcher.deadline();
    dispatcher.expire(now);
    if (!holder) continue;
    workers[holder->value - 1].give_back(true);
    look(holder->value);
  }
  EXPECT_NEAR(idle_turns, 72 / 18, 1);
}

}  // namespace
}  // namespace fairgv::daemon
