// The next part of a launch that is issued shortly before the part in front ends.
#include <chrono>
#include <memory>
#include <utility>

#include "tests/unit/vgpu/slicing_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;

class SlicingAhead : public SlicingTest {
 protected:
  /// A launch whose first part has shown its pace, and whose second part has just been issued. The second
  /// part is expected to take six milliseconds, so the third may go from 5.25 ms on.
  std::shared_ptr<FakeLaunch> begin(std::shared_ptr<Lane> on) {
    have_company();
    auto made = std::make_shared<FakeLaunch>(device, std::move(on), 1, row(kBlocks));
    EXPECT_TRUE(executor.enqueue(made, event(0), {}));
    grant_now();
    run_part(*made);
    EXPECT_EQ(made->parts.size(), 2U);
    EXPECT_NEAR(static_cast<double>(blocks_of(made->parts[1])), 6'000, 300);
    return made;
  }
  void wait_for(Duration time) {
    now += time;
    loop.pump();
  }
};

TEST_F(SlicingAhead, ThePartBehindIsIssuedShortlyBeforeTheOneInFrontEnds) {
  const TimePoint alone_since = now;
  const auto made = begin(lane);
  const TimePoint began = now;
  EXPECT_GT(loop.deadline().at, began + 4500us);
  EXPECT_LT(loop.deadline().at, began + 5500us);
  wait_for(4500us);
  EXPECT_EQ(device.in_flight(), 1U) << "too soon";
  EXPECT_FALSE(loop.needs_pump()) << "but for the deadline";
  wait_for(1ms);
  EXPECT_EQ(device.in_flight(), 2U);
  EXPECT_EQ(loop.deadline().at, TimePoint::max()) << "no third";
  run_for(500us);
  EXPECT_EQ(device.in_flight(), 1U);
  run_for(6ms);
  EXPECT_GT(blocks_of(made->parts.back()), 5'000U)
      << "timed from the end of the part in front, not from its issue";
  EXPECT_EQ(turns[0].used_ns, std::chrono::nanoseconds(now - alone_since).count());
}

TEST_F(SlicingAhead, NoPartGoesAheadOnceAnotherTenantWaits) {
  begin(lane);
  turns[0].state = static_cast<std::uint32_t>(TurnState::busy_asked);
  wait_for(5500us);
  EXPECT_EQ(device.in_flight(), 1U);
  EXPECT_EQ(loop.deadline().at, TimePoint::max()) << "no use in looking again";
  run_for(500us);
  EXPECT_EQ(state(), TurnState::wanting);
}

TEST_F(SlicingAhead, ANewcomerWaitsForBothPartsInFlight) {
  begin(lane);
  wait_for(5500us);
  turns[0].state = static_cast<std::uint32_t>(TurnState::busy_asked);
  run_for(500us);
  EXPECT_EQ(device.in_flight(), 1U);
  EXPECT_EQ(state(), TurnState::busy_asked);
  run_for(6ms);
  EXPECT_EQ(device.in_flight(), 0U);
  EXPECT_EQ(state(), TurnState::wanting);
}

TEST_F(SlicingAhead, AnErrorInFrontEndsTheLaunchAfterThePartBehind) {
  const auto made = begin(lane);
  enqueue(2, event(1));
  wait_for(5500us);
  run_for(500us, -5);
  EXPECT_EQ(status(event(0)), kSubmitted);
  EXPECT_EQ(device.in_flight(), 1U) << "neither a further part nor the command behind";
  run_for(6ms);
  EXPECT_EQ(status(event(0)), -5);
  EXPECT_EQ(made->parts.size(), 3U);
  device.complete_all();
  EXPECT_EQ(status(event(1)), kComplete);
  EXPECT_FALSE(executor.in_flight());
}

TEST_F(SlicingAhead, ARefusalOfThePartBehindEndsTheLaunchAfterThePartInFront) {
  const auto made = begin(lane);
  made->refuse_part = 2;
  made->refuse_part_with = -6;
  wait_for(5500us);
  EXPECT_EQ(device.in_flight(), 1U);
  EXPECT_EQ(status(event(0)), kSubmitted);
  run_for(500us);
  EXPECT_EQ(status(event(0)), -6);
  EXPECT_FALSE(executor.in_flight());
}

TEST_F(SlicingAhead, OnAnOutOfOrderQueueOnePartFollowsTheOther) {
  const auto made = begin(std::make_shared<Lane>(false, 0));
  wait_for(5500us);
  EXPECT_EQ(device.in_flight(), 1U);
  EXPECT_EQ(made->parts.size(), 2U);
}

}  // namespace
}  // namespace fairgv::vgpu
