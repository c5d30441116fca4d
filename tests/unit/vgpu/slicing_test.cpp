// Launches in parts: which, when, and that nobody else notices.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "runtime/vgpu/issue/slicing_settings.hpp"
#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;
using Readiness = SliceableLaunch::Readiness;

constexpr std::uint64_t kBlocks = 100'000;

slicing::Launch row(std::uint64_t blocks) {
  return {.size = {blocks * 64, 1, 1}, .local = {64, 1, 1}};
}

std::uint64_t blocks_of(const slicing::Box& box) {
  return *slicing::volume(box.groups);
}

class SlicingTest : public ExecutorTest {
 protected:
  using ExecutorTest::ExecutorTest;

  std::shared_ptr<FakeLaunch> launch(int name, wire::EventId completion = {},
                                     std::uint64_t blocks = kBlocks) {
    auto made = std::make_shared<FakeLaunch>(device, lane, name, row(blocks));
    EXPECT_TRUE(executor.enqueue(made, completion, {}));
    return made;
  }
  void have_company() { turns[0].company = 1; }
  /// Ends what is on the device after `time`, and lets the loop thread go on.
  void run_for(Duration time, std::int32_t status = kComplete) {
    now += time;
    ASSERT_TRUE(device.complete_one(status));
    loop.pump();
  }
  /// The device does a work-group in a microsecond.
  void run_part(const FakeLaunch& launch) {
    run_for(std::chrono::microseconds(blocks_of(launch.parts.back())));
  }
  /// Until the launch has ended; turns are granted at once. Returns how many it took.
  int run_to_end(const FakeLaunch& launch, wire::EventId completion, Duration slice) {
    int grants = 0;
    for (int steps = 0; status(completion) > kComplete && steps < 100'000; ++steps) {
      if (state() == TurnState::wanting) {
        ++grants;
        grant(slice);
      } else {
        run_part(launch);
      }
    }
    return grants;
  }
};

TEST_F(SlicingTest, ALoneTenantsLaunchRunsWhole) {
  const auto made = launch(1, event(0));
  grant_now();
  EXPECT_EQ(made->wholes, 1);
  run_for(10s);
  EXPECT_EQ(status(event(0)), kComplete);
  EXPECT_EQ(made->prepared, 0);
  EXPECT_TRUE(made->parts.empty());
}

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

TEST_F(SlicingTest, TheSmallestPartIsWhatTheDaemonSaysNow) {
  have_company();
  turns[0].slicing_floor = 10;
  const auto made = launch(1, event(0));
  grant_now();
  ASSERT_EQ(made->parts.size(), 1U);
  EXPECT_LT(blocks_of(made->parts[0]), 30U);
}

TEST_F(SlicingTest, WhatTheDaemonNowWantsNoSmallerRunsWhole) {
  have_company();
  turns[0].slicing_floor = 2 * kBlocks;
  const auto made = launch(1, event(0));
  grant_now();
  EXPECT_EQ(made->wholes, 1);
  EXPECT_TRUE(made->parts.empty());
}

TEST_F(SlicingTest, AContendedTurnEndsBetweenPartsAndTheNextGoesOn) {
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

TEST_F(SlicingTest, WhatComesAfterItWaitsForTheLastPart) {
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

TEST_F(SlicingTest, AnErrorInTheMiddleEndsIt) {
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

TEST_F(SlicingTest, WhatTheDriverRefusesAtTheFirstPartRunsWhole) {
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

TEST_F(SlicingTest, WhatTheDriverRefusesLaterIsTheLaunchsError) {
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

TEST_F(SlicingTest, ALaunchThatAnErrorReachesBeforeItIsPreparedIsForgotten) {
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
  device.complete_one();    // the driver's thread finds that it must be prepared
  device.complete_one(-5);  // and then what it waits for fails
  EXPECT_EQ(status(event(1)), kWaitListFailed);
  executor.note_release();
  loop.pump();
  loop.pump();
  EXPECT_EQ(doomed->prepared, 0);
  EXPECT_EQ(device.in_flight(), 0U);
}

TEST_F(SlicingTest, WhatCannotBePreparedRunsWholeAndIsNamed) {
  const auto made = launch(1, event(0));
  made->readiness_now = Readiness::impossible;
  loop.pump();
  grant(6ms);
  EXPECT_EQ(made->wholes, 1);
  run_for(3s);
  EXPECT_EQ(held_long, std::vector<std::string>{"fake: it is a fake"});
}

TEST_F(SlicingTest, WhatFitsItsOwnTurnIsNotNamedHoweverShortOtherTurnsAre) {
  enqueue(1);
  loop.pump();
  grant(15ms);
  run_for(14ms);
  EXPECT_EQ(held_long, std::vector<std::string>{});
  enqueue(2);
  loop.pump();
  grant(15ms);
  run_for(16ms);
  EXPECT_EQ(held_long, std::vector<std::string>{"fake: only kernel launches can be sliced"});
}

TEST_F(SlicingTest, TooFewWorkGroupsAreNamedAsTheReason) {
  const auto made = launch(1, event(0), 2 * slicing::kDefaultFloor - 1);
  loop.pump();
  grant(6ms);
  EXPECT_EQ(made->wholes, 1);
  run_for(3s);
  EXPECT_EQ(held_long, std::vector<std::string>{"fake: it has too few work-groups"});
}

TEST_F(SlicingTest, WhoeverOverstaysALoneTurnIsNamedWhenOthersHaveCome) {
  enqueue(1, event(0));
  grant_now();
  turns[0].state = static_cast<std::uint32_t>(TurnState::busy_asked);
  run_for(3s);
  EXPECT_EQ(held_long, std::vector<std::string>{"fake: only kernel launches can be sliced"});
}

TEST_F(SlicingTest, AShortKernelIsMeasuredInPartsOnceAndRunsWholeFromThenOn) {
  have_company();
  const auto first = launch(1, event(0), 4'000);
  grant_now();
  while (status(event(0)) != kComplete) run_part(*first);
  EXPECT_GE(first->parts.size(), 2U);
  const auto second = launch(2, event(1), 4'000);
  loop.pump();
  EXPECT_EQ(second->wholes, 1);
}

TEST_F(SlicingTest, WhatWasShortAloneIsNotMeasuredInPartsWhenOthersCome) {
  launch(1, event(0));
  grant_now();
  run_for(100us);
  have_company();
  const auto second = launch(2, event(1));
  loop.pump();
  EXPECT_EQ(second->wholes, 1);
}

TEST_F(SlicingTest, WhatWasLongAloneIsCutWhenOthersCome) {
  launch(1, event(0));
  grant_now();
  run_for(100ms);
  have_company();
  const auto second = launch(2, event(1));
  loop.pump();
  ASSERT_EQ(second->parts.size(), 1U);
  EXPECT_GT(blocks_of(second->parts[0]), 5'000U) << "by the time that is known";
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

class SlicingAhead : public SlicingTest {
 protected:
  /// A launch whose first part has told its pace, and whose second has just been issued. It is expected to
  /// take six milliseconds, so the third may go from 5.25 ms on.
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

TEST_F(SlicingAhead, NothingGoesAheadOnceSomebodyWaits) {
  begin(lane);
  turns[0].state = static_cast<std::uint32_t>(TurnState::busy_asked);
  wait_for(5500us);
  EXPECT_EQ(device.in_flight(), 1U);
  EXPECT_EQ(loop.deadline().at, TimePoint::max()) << "no use in looking again";
  run_for(500us);
  EXPECT_EQ(state(), TurnState::wanting);
}

TEST_F(SlicingAhead, WhoeverComesThenWaitsForBoth) {
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

TEST_F(SlicingAhead, ARefusalBehindEndsTheLaunchAfterThePartInFront) {
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

TEST_F(SlicingAhead, WhereTimesAreKeptOrOrderIsNotOnePartFollowsTheOther) {
  const auto made = begin(std::make_shared<Lane>(false, 0));
  wait_for(5500us);
  EXPECT_EQ(device.in_flight(), 1U);
  EXPECT_EQ(made->parts.size(), 2U);
}

class SlicingAtRandom : public SlicingTest {
 protected:
  SlicingAtRandom() : SlicingTest(slicing_settings("time", 1500, {session::SlicingWish::Kind::random, 7})) {}
};

TEST_F(SlicingAtRandom, EveryLaunchOfMoreThanOneGroupIsCutAndNothingIsLeftOut) {
  std::uint64_t parts = 0;
  for (std::uint64_t blocks = 1; blocks <= 200; ++blocks) {
    const auto made = launch(static_cast<int>(blocks), event(static_cast<std::uint32_t>(blocks)), blocks);
    loop.pump();
    if (state() == TurnState::wanting) grant();
    while (status(event(static_cast<std::uint32_t>(blocks))) != kComplete) run_for(1us);
    std::uint64_t done = 0;
    for (const slicing::Box& part : made->parts) done += blocks_of(part);
    EXPECT_EQ(done, made->wholes == 0 ? blocks : 0);
    EXPECT_EQ(made->wholes, blocks == 1 ? 1 : made->wholes);
    parts += made->parts.size();
  }
  EXPECT_GT(parts, 400U);
}

class SlicingOff : public SlicingTest {
 protected:
  SlicingOff() : SlicingTest(slicing_settings("time", 1500, {session::SlicingWish::Kind::off})) {}
};

TEST_F(SlicingOff, NothingIsCut) {
  have_company();
  const auto made = launch(1, event(0));
  loop.pump();
  grant(6ms);
  EXPECT_EQ(made->wholes, 1);
  run_for(3s);
  EXPECT_EQ(held_long, std::vector<std::string>{"fake: slicing is off"});
}

class SlicingByThePapersRule : public SlicingTest {
 protected:
  SlicingByThePapersRule() : SlicingTest(slicing_settings("static", 1500, {})) {}
};

TEST_F(SlicingByThePapersRule, GridsOfMoreThan600SquaredAreCutIntoTheFloor) {
  have_company();
  const auto small = launch(1, event(0), 360'000);
  grant_now();
  EXPECT_EQ(small->wholes, 1);
  run_for(1us);
  const auto large = launch(2, event(1), 360'001);
  loop.pump();
  while (status(event(1)) != kComplete) {
    EXPECT_LE(blocks_of(large->parts.back()), 1'501U);
    run_part(*large);
  }
  EXPECT_EQ(large->wholes, 0);
}

}  // namespace
}  // namespace fairgv::vgpu
