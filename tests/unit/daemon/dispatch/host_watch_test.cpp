// Ticks of the host: when they come, what they cost, and what policies make of them.
#include "runtime/daemon/dispatch/host_watch.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "sched/policies/registry.hpp"
#include "tests/unit/daemon/worker/fake_worker.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using State = session::TurnState;

constexpr sched::Duration kTick = 10ms;

struct HostTicks : testing::Test {
  void use(std::string_view policy, sched::Duration slice = 6ms) {
    devices.clear();
    devices.emplace_back(sched::make_policy(policy, slice));
  }
  Dispatcher& device() { return devices[0]; }
  /// A session whose program has used so much processor time as the test says.
  FakeWorker& add(std::uint32_t session, std::uint32_t tenant = 0) {
    const TenantId owner{tenant == 0 ? session : tenant};
    FakeWorker& worker = workers.emplace_back();
    device().add_tenant(owner, {}, now);
    device().add_session(SessionId{session}, owner, {worker.turn, &worker.promise, worker.header}, now);
    watch.add_session(SessionId{session}, owner, [this, session] { return std::optional(ran[session]); });
    return worker;
  }
  void want(std::uint32_t session) {
    workers[session - 1].want();
    device().look(SessionId{session}, now);
  }
  /// Two tenants want the device, and the first of them has it.
  void contend() {
    add(1);
    add(2);
    want(1);
    workers[0].begin();
    want(2);
  }
  /// Time passes in which these sessions' programs run, up to a tick.
  void tick(std::initializer_list<std::uint32_t> running, sched::Duration time = kTick) {
    now += time;
    for (const std::uint32_t session : running) ran[session] += time;
    watch.expire(devices, now);
  }
  /// All workers run their turns to the end, for so many ticks. Returns the turns of each session.
  std::map<std::uint32_t, int> turns_in(int ticks, std::initializer_list<std::uint32_t> running) {
    std::map<std::uint32_t, int> turns;
    for (int i = 0; i < ticks; ++i) {
      for (int step = 0; step < 10; ++step) {
        now += 1ms;
        for (const std::uint32_t session : running) ran[session] += 1ms;
        device().expire(now);
        for (std::uint32_t session = 1; session <= workers.size(); ++session) {
          FakeWorker& worker = workers[session - 1];
          if (worker.state() == State::held) {
            ++turns[session];
            worker.begin();
          } else if (worker.state() == State::busy_asked) {
            worker.use(1ms);
            worker.give_back(true);
            device().look(SessionId{session}, now);
          }
        }
      }
      watch.expire(devices, now);
    }
    return turns;
  }

  HostWatch watch{2};
  std::vector<Dispatcher> devices;
  std::deque<FakeWorker> workers;
  std::map<std::uint32_t, sched::Duration> ran;
  sched::Time now{1'000s};
};

TEST_F(HostTicks, CostNothingUnderAPolicyThatDoesNotAsk) {
  for (const char* policy : {"fair", "acc-credit", "xeno-credit", "slaf"}) {
    use(policy);
    workers.clear();
    contend();
    for (int i = 0; i < 10; ++i) tick({1, 2});
    EXPECT_EQ(watch.looks(), 0U) << policy;
    EXPECT_EQ(watch.deadline(devices), std::nullopt) << policy;
    for (const std::uint32_t session : {1U, 2U}) watch.remove_session(SessionId{session});
  }
}

TEST_F(HostTicks, CostNothingWhileNobodyWaits) {
  use("cosched");
  add(1);
  want(1);
  EXPECT_EQ(workers[0].state(), State::held);
  EXPECT_EQ(watch.deadline(devices), std::nullopt);
  for (int i = 0; i < 10; ++i) tick({1});
  EXPECT_EQ(watch.looks(), 0U);
}

TEST_F(HostTicks, GoOnForAMomentWhenNobodyWaitsAnyMore) {
  use("cosched");
  contend();
  tick({});
  EXPECT_EQ(watch.looks(), 2U);
  EXPECT_EQ(watch.deadline(devices), now + kTick);
  device().remove_session(SessionId{2}, now);
  const auto until = now + HostWatch::kAfterwards;
  while (watch.deadline(devices)) {
    ASSERT_LT(now, until + 2 * kTick) << "ticks go on for ever";
    tick({});
  }
  EXPECT_GE(now, until);
}

TEST_F(HostTicks, LookAtABoundedNumberOfProgramsAndAtAllInTurn) {
  use("cosched");
  contend();
  constexpr std::uint32_t kPrograms = 300;
  for (std::uint32_t session = 3; session <= kPrograms; ++session) add(session);
  for (std::uint64_t ticks = 1; ticks <= 3; ++ticks) {
    tick({});
    EXPECT_EQ(watch.looks(), ticks * HostWatch::kMostLooks);
  }
  std::map<std::uint32_t, int> seen;
  for (std::uint32_t session = 1; session <= kPrograms; ++session) {
    watch.remove_session(SessionId{session});
    watch.add_session(SessionId{session}, TenantId{session}, [&seen, session] {
      ++seen[session];
      return std::optional<sched::Duration>(0ms);
    });
  }
  for (int ticks = 0; ticks < 3; ++ticks) tick({});
  EXPECT_EQ(seen.size(), kPrograms) << "in three ticks all are looked at";
}

TEST_F(HostTicks, LetCoschedServeTenantsWhoseProgramsRun) {
  use("cosched");
  contend();
  (void)turns_in(2, {2});  // the first look tells nothing
  auto turns = turns_in(60, {2});
  EXPECT_EQ(turns[1], 0);
  EXPECT_GE(turns[2], 60);
  (void)turns_in(2, {1});
  turns = turns_in(60, {1});
  EXPECT_GE(turns[1], 60) << "the host runs the other program now";
  EXPECT_EQ(turns[2], 0);
}

TEST_F(HostTicks, LetAllShareWhereTheHostRunsNoProgram) {
  use("cosched");
  contend();
  (void)turns_in(2, {});
  auto turns = turns_in(60, {});
  EXPECT_NEAR(turns[1], turns[2], 2);
}

TEST_F(HostTicks, TakeATenantToRunWhileAnyOfItsProgramsDoes) {
  use("cosched");
  contend();
  add(3, 2);  // another program of the second tenant, which wants nothing
  (void)turns_in(2, {3});
  auto turns = turns_in(60, {3});
  EXPECT_EQ(turns[1], 0);
  EXPECT_GE(turns[2], 60);
  watch.remove_session(SessionId{3});
  (void)turns_in(4, {});
  turns = turns_in(60, {});
  EXPECT_NEAR(turns[1], turns[2], 2) << "that program has ended";
}

TEST_F(HostTicks, PreemptTheHolderUnderStrictCoscheduling) {
  use("strict-cosched", 1'000s);
  contend();
  tick({1});  // the first look tells nothing
  tick({1});
  EXPECT_EQ(workers[0].state(), State::busy);
  tick({2});
  EXPECT_EQ(workers[0].state(), State::busy_asked) << "the host runs the second program";
  workers[0].give_back(true);
  device().look(SessionId{1}, now);
  EXPECT_EQ(workers[1].state(), State::held);
}

TEST_F(HostTicks, TellNothingByALookThatLiesFarBack) {
  use("strict-cosched", 1'000s);
  contend();
  tick({1});
  tick({1});
  tick({2}, 10s);
  EXPECT_EQ(workers[0].state(), State::busy) << "the program may have run at any time of the ten seconds";
  tick({2});
  EXPECT_EQ(workers[0].state(), State::busy_asked);
}

TEST_F(HostTicks, DoNotCountAProgramThatRunsForMoments) {
  use("strict-cosched", 1'000s);
  contend();
  tick({});
  ran[2] += kTick / HostWatch::kScheduledPart - 1us;
  tick({});
  EXPECT_EQ(workers[0].state(), State::busy);
  ran[2] += kTick / HostWatch::kScheduledPart;
  tick({});
  EXPECT_EQ(workers[0].state(), State::busy_asked);
}

}  // namespace
}  // namespace fairgv::daemon
