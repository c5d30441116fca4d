// A launch in parts: their sizes, their order, their ends and errors; and no other command notices the parts.
#include <chrono>

#include "tests/unit/vgpu/slicing_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;
using Readiness = SliceableLaunch::Readiness;

TEST_F(SlicingTest, TheFirstPartMeasuresAndTheOthersFillTheSlice) {
  have_company();
  const auto made = launch(1, event(0));
  grant_now();
  ASSERT_EQ(made->parts.size(), 1U);
  EXPECT_LT(blocks_of(made->parts[0]), 2 * slicing::kDefaultFloor);
  EXPECT_EQ(status(event(0)), kSubmitted);
  run_part(*made);
  ASSERT_EQ(made->parts.size(), 2U) << "the turn goes on";
  EXPECT_GT(blocks_of(made->parts[1]), 5'000U) << "6 ms at a microsecond for a work-group";
  EXPECT_LE(blocks_of(made->parts[1]), 6'000U);
  EXPECT_EQ(status(event(0)), kSubmitted);
}

TEST_F(SlicingTest, TheSmallestPartFollowsTheDaemonsPresentFloor) {
  have_company();
  turns[0].slicing_floor = 10;
  const auto made = launch(1, event(0));
  grant_now();
  ASSERT_EQ(made->parts.size(), 1U);
  EXPECT_LT(blocks_of(made->parts[0]), 30U);
}

TEST_F(SlicingTest, AContendedTurnEndsBetweenPartsAndTheNextTurnGoesOn) {
  const auto made = launch(1, event(0));
  loop.pump();
  const int grants = run_to_end(*made, event(0), 6ms);
  EXPECT_EQ(status(event(0)), kComplete);
  EXPECT_GE(grants, 16) << "100 ms of work in turns of 6 ms";
  EXPECT_LE(grants, 30);
  std::uint64_t next = 0;
  for (const slicing::Box& part : made->parts) {
    EXPECT_EQ(part.first[0], next) << "one after the other";
    next += blocks_of(part);
  }
  EXPECT_EQ(next, kBlocks) << "all of it, once";
  EXPECT_EQ(made->wholes, 0);
  EXPECT_EQ(turns[0].used_ns, std::chrono::nanoseconds(100ms).count());
  EXPECT_EQ(turns[0].launches, 1U) << "it is one launch";
  EXPECT_EQ(turns[0].slices, made->parts.size());
}

TEST_F(SlicingTest, CommandsBehindALaunchWaitForItsLastPart) {
  have_company();
  const auto made = launch(1, event(0));
  enqueue(2, event(1));
  enqueue_on(std::make_shared<Lane>(true, 0), 3, event(2), {event(0)});
  enqueue_on(std::make_shared<Lane>(false, 0), 4, event(3), {event(0)});
  grant_now();
  while (status(event(0)) != kComplete) {
    EXPECT_EQ(device.in_flight(), 1U) << "a part runs alone";
    EXPECT_EQ(device.issued().back(), 1);
    run_part(*made);
  }
  while (device.in_flight() > 0) {
    device.complete_all();
    loop.pump();
  }
  EXPECT_EQ(status(event(1)), kComplete);
  EXPECT_EQ(status(event(2)), kComplete);
  EXPECT_EQ(status(event(3)), kComplete);
}

TEST_F(SlicingTest, ANewcomerWaitsForOnePart) {
  have_company();
  const auto made = launch(1, event(0));
  grant_now();
  run_part(*made);
  turns[0].state = static_cast<std::uint32_t>(TurnState::busy_asked);
  run_part(*made);
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(device.in_flight(), 0U);
}

TEST_F(SlicingTest, AnErrorOfAPartEndsTheLaunch) {
  have_company();
  const auto made = launch(1, event(0));
  enqueue_on(std::make_shared<Lane>(true, 0), 2, event(1), {event(0)});
  grant_now();
  run_part(*made);
  run_for(1ms, -5);
  EXPECT_EQ(status(event(0)), -5);
  EXPECT_EQ(status(event(1)), kWaitListFailed);
  EXPECT_EQ(made->parts.size(), 2U);
  EXPECT_EQ(device.in_flight(), 0U);
  EXPECT_FALSE(executor.in_flight());
}

TEST_F(SlicingTest, ALaunchWhoseFirstPartIsRefusedRunsWhole) {
  have_company();
  auto made = std::make_shared<FakeLaunch>(device, lane, 1, row(kBlocks));
  made->refuse_part = 0;
  made->refuse_part_with = -54;
  ASSERT_TRUE(executor.enqueue(made, event(0), {}));
  grant_now();
  EXPECT_TRUE(made->parts.empty());
  EXPECT_EQ(made->wholes, 1);
  run_for(1s);
  EXPECT_EQ(status(event(0)), kComplete);
}

TEST_F(SlicingTest, ARefusalOfALaterPartIsTheLaunchsError) {
  have_company();
  auto made = std::make_shared<FakeLaunch>(device, lane, 1, row(kBlocks));
  made->refuse_part = 1;
  made->refuse_part_with = -5;
  ASSERT_TRUE(executor.enqueue(made, event(0), {}));
  grant_now();
  run_part(*made);
  EXPECT_EQ(status(event(0)), -5);
  EXPECT_EQ(made->wholes, 0);
  EXPECT_FALSE(executor.in_flight());
  enqueue(2, event(1));
  loop.pump();
  device.complete_all();
  EXPECT_EQ(status(event(1)), kComplete) << "the next command runs";
}

TEST_F(SlicingTest, TheDeviceIsNotHeldWhileALaunchIsPrepared) {
  auto made = std::make_shared<FakeLaunch>(device, lane, 1, row(kBlocks));
  made->readiness_now = Readiness::unprepared;
  ASSERT_TRUE(executor.enqueue(made, event(0), {}));
  loop.pump();
  grant(6ms);
  EXPECT_EQ(made->prepared, 1);
  EXPECT_EQ(device.in_flight(), 0U);
  now += Linger::kLongest;
  loop.pump();
  EXPECT_EQ(state(), TurnState::idle) << "neither held nor wanted";

  made->readiness_now = Readiness::ready;
  executor.reconsider();
  ASSERT_TRUE(loop.needs_pump());
  loop.pump();
  grant(6ms);
  EXPECT_EQ(made->parts.size(), 1U);
  EXPECT_EQ(made->prepared, 1);
}

TEST_F(SlicingTest, ALaunchThatFailsBeforeItIsPreparedIsNeverPrepared) {
  enqueue(1);
  enqueue_on(std::make_shared<Lane>(true, 0), 2, event(0));
  grant_now();
  have_company();
  ASSERT_TRUE(executor.create_user_event(event(2)));
  const auto doomed = std::make_shared<FakeLaunch>(device, std::make_shared<Lane>(true, 0), 3, row(kBlocks));
  doomed->readiness_now = Readiness::unprepared;
  ASSERT_TRUE(executor.enqueue(doomed, event(1), std::vector{event(0), event(2)}));
  ASSERT_TRUE(executor.set_user_event(event(2), kComplete));
  now += 1s;
  device.complete_one();    // the driver's thread finds that the launch must be prepared
  device.complete_one(-5);  // and then the command that it waits for fails
  EXPECT_EQ(status(event(1)), kWaitListFailed);
  executor.note_release();
  loop.pump();
  loop.pump();
  EXPECT_EQ(doomed->prepared, 0);
  EXPECT_EQ(device.in_flight(), 0U);
}

TEST_F(SlicingTest, ALaunchThatHasBegunInPartsGoesOnInPartsWhenTheTenantIsAlone) {
  have_company();
  const auto made = launch(1, event(0));
  grant_now();
  turns[0].company = 0;
  while (status(event(0)) != kComplete) {
    ASSERT_LE(blocks_of(made->parts.back()), 6'000U);
    run_part(*made);
  }
  EXPECT_EQ(made->wholes, 0);
}

}  // namespace
}  // namespace fairgv::vgpu
