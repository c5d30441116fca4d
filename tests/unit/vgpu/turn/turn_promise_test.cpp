// Terms of a turn beyond its slice: what may be in flight, how long a command may take, and giving a turn by
// the clock back when there is nothing to issue.
#include "tests/unit/vgpu/turn/turn_fixture.hpp"

namespace fairgv::vgpu {
namespace {

struct PromisedTurn : TurnTest {
  std::uint64_t limit() { return bound.in_flight() + bound.may_issue(Offer(kKernel), now).count; }
  void grant_bound(Duration slice) {
    bound.may_issue(Offer(kKernel), now);
    turn.slice_ns = static_cast<std::uint64_t>(slice.count());
    turn.state = static_cast<std::uint32_t>(TurnState::held);
  }
  /// Commands of `each` run one after another until their time is known.
  void run_known(Duration each, int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_GT(bound.may_issue(Offer(kKernel), now).count, 0U);
      bound.issued(Offer(kKernel), kCpu, now);
      now += each;
      bound.completed(1, 1, now);
      bound.settle(Offer(kKernel), now);
    }
  }

  session::TurnPromise promise;
  int bound_knocks = 0;
  TurnClient bound{{turn, &promise}, TurnSettings{6ms, 5}, [this] { ++bound_knocks; }};
};

TEST_F(PromisedTurn, ALoneTurnKeepsNoMoreInFlightThanTheDispatcherSays) {
  promise.in_flight_ns = 300'000;
  grant_bound(0ns);
  run_known(100us, 50);
  EXPECT_EQ(limit(), 3U);
  run_known(1ms, 50);
  EXPECT_EQ(limit(), TurnMeter::kLeastInFlight);
}

TEST_F(PromisedTurn, AMeasuredTurnKeepsNoMoreInFlightThanTheDispatcherSays) {
  promise.in_flight_ns = 300'000;
  grant_bound(15ms);
  run_known(100us, 6);
  std::uint64_t issued = 0;
  while (bound.may_issue(Offer(kKernel), now).count > 0) {
    bound.issued(Offer(kKernel), kCpu, now);
    ++issued;
  }
  EXPECT_EQ(issued, 3U);
}

TEST_F(PromisedTurn, WithoutABoundItIsAsBefore) {
  grant_bound(0ns);
  run_known(100us, 50);
  EXPECT_EQ(limit(), 60U);
}

TEST_F(PromisedTurn, ACommandThatIsExpectedToTakeLongerThanTheLimitEndsTheTurn) {
  grant_bound(6ms);
  run_known(1ms, 6);
  ASSERT_EQ(turn.state, static_cast<std::uint32_t>(TurnState::wanting)) << "the slice is used";
  promise.cost_limit_ns = 900'000;
  grant_bound(6ms);
  EXPECT_EQ(bound.may_issue(Offer(kKernel), now).count, 0U);
  bound.settle(Offer(kKernel), now);
  EXPECT_EQ(turn.state, static_cast<std::uint32_t>(TurnState::wanting));
}

TEST_F(PromisedTurn, AsPublishedFiveCommandsOfEachTurnAreMeasuredOneByOne) {
  promise.sampling = static_cast<std::uint64_t>(sched::Sampling::per_turn);
  for (std::uint64_t turns = 1; turns <= 3; ++turns) {
    grant_bound(6ms);
    run_known(1ms, 6);
    EXPECT_EQ(turn.samples, 5 * turns);
    EXPECT_EQ(turn.syncs, 6 * turns);
  }
}

TEST_F(PromisedTurn, EveryCommandIsMeasuredIfThatIsWantedInLoneTurnsToo) {
  promise.sampling = static_cast<std::uint64_t>(sched::Sampling::always);
  grant_bound(0ns);
  for (std::uint64_t commands = 1; commands <= 20; ++commands) {
    run_known(100us, 1);
    EXPECT_EQ(limit(), 1U) << "one in flight";
    EXPECT_EQ(turn.samples, commands);
    EXPECT_EQ(turn.syncs, commands);
  }
}

TEST_F(PromisedTurn, ASamplingThatALaterDaemonKnowsIsTheUsual) {
  promise.sampling = 77;
  grant_bound(6ms);
  run_known(1ms, 6);
  EXPECT_EQ(turn.samples, 5U);
  grant_bound(6ms);
  run_known(1ms, 6);
  EXPECT_EQ(turn.samples, 5U) << "the kernel is known";
}

TEST_F(PromisedTurn, TheTimeThatTheNextCommandIsExpectedToTakeIsTold) {
  bound.may_issue(Offer(kKernel), now);
  EXPECT_EQ(promise.next_cost_ns, 0U) << "nobody knows";
  grant_bound(6ms);
  run_known(1ms, 6);
  EXPECT_EQ(turn.state, static_cast<std::uint32_t>(TurnState::wanting));
  EXPECT_EQ(promise.next_cost_ns, 1'000'000U);
}

TEST_F(PromisedTurn, ATurnByTheClockIsGivenBackWhenThereIsNothingToIssueIfThePolicyWantsThat) {
  turn.depth = 16;
  promise.gives_back = 1;
  grant_bound(0ns);
  ASSERT_GT(bound.may_issue(Offer(kKernel), now).count, 0U);
  bound.issued(Offer(kKernel), kCpu, now);
  now += 1ms;
  bound.completed(1, 1, now);
  bound.settle({}, now);
  while (const auto until = bound.lingers_until()) {
    now = *until;
    bound.settle({}, now);
  }
  EXPECT_EQ(turn.state, static_cast<std::uint32_t>(TurnState::idle));
}

}  // namespace
}  // namespace fairgv::vgpu
