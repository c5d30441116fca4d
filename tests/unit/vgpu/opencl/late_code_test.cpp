// Launches whose machine code the driver still has to make, over a device whose completions the test decides,
// with the test as the dispatcher.
#include <gtest/gtest.h>

#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;

struct LateCode : ExecutorTest {
  using ExecutorTest::ExecutorTest;

  std::shared_ptr<FakeLateCommand> enqueue_late(int name, wire::EventId completion = {}) {
    auto command = std::make_shared<FakeLateCommand>(device, lane, name);
    EXPECT_TRUE(executor.enqueue(command, completion, {}));
    return command;
  }
  session::CompileClock compile_clock() const { return session::CompileClock(turns[0].compile_clock.load()); }
  bool says_it_compiles() const { return compile_clock().runs(); }
};

TEST_F(LateCode, IsMadeWithoutATurnAndRunInOne) {
  const auto command = enqueue_late(1, event(0));
  loop.pump();
  ASSERT_TRUE(command->given);
  EXPECT_EQ(state(), TurnState::idle) << "others may have the device meanwhile";
  EXPECT_TRUE(executor.in_flight());
  EXPECT_TRUE(says_it_compiles());
  EXPECT_EQ(compiler_told, std::vector{true});
  command->come_to_the_gate();
  EXPECT_EQ(compiler_told, (std::vector{true, false}));
  EXPECT_TRUE(loop.needs_pump());
  EXPECT_FALSE(says_it_compiles());
  EXPECT_TRUE(device.issued().empty()) << "it waits for the turn";
  grant_now();
  EXPECT_EQ(device.issued(), std::vector{1});
  device.complete_one();
  EXPECT_EQ(status(event(0)), kComplete);
}

TEST_F(LateCode, IsMadeWhileTheTurnIsKeptAndRunsAtOnce) {
  enqueue(1);
  grant_now();
  device.complete_one();
  ASSERT_EQ(state(), TurnState::held);
  const auto command = enqueue_late(2);
  loop.pump();
  EXPECT_EQ(state(), TurnState::held) << "the device is not used: the turn can be taken back";
  command->come_to_the_gate();
  loop.pump();
  EXPECT_EQ(device.issued(), (std::vector{1, 2}));
}

TEST_F(LateCode, IsNotChargedToAMeasuredTurn) {
  const auto command = enqueue_late(1);
  loop.pump();
  now += 30s;
  EXPECT_EQ(compile_clock().shows(now), 30'000U);
  command->come_to_the_gate();
  now += 10s;
  EXPECT_EQ(compile_clock().shows(now), 30'000U);
  loop.pump();
  grant(6ms);
  now += 200us;
  device.complete_one();
  EXPECT_EQ(turns[0].used_ns, 200'000U);
  EXPECT_EQ(command->issued_at, now - 200us);
}

TEST_F(LateCode, HoldsUpNothingThatIsUnderWayAndIsFollowedByNothing) {
  enqueue(1);
  const auto command = enqueue_late(2);
  const auto elsewhere = std::make_shared<Lane>(true, 0);
  grant_now();
  EXPECT_EQ(device.issued(), std::vector{1});
  EXPECT_FALSE(command->given) << "the driver may have one thread only";
  device.complete_one();
  loop.pump();
  ASSERT_TRUE(command->given);
  enqueue_on(elsewhere, 3);
  loop.pump();
  EXPECT_EQ(device.issued(), std::vector{1});
  command->come_to_the_gate();
  loop.pump();
  EXPECT_EQ(device.issued(), (std::vector{1, 2, 3}));
}

TEST_F(LateCode, ThatTheDriverRefusesToMakeIsLeftToItsTurn) {
  auto command = std::make_shared<FakeLateCommand>(device, lane, 1, -54);
  command->refuse_to_compile_with = -54;
  ASSERT_TRUE(executor.enqueue(command, event(0), {}));
  loop.pump();
  ASSERT_TRUE(command->given);
  EXPECT_EQ(compiler_told, (std::vector{true, false}));
  EXPECT_FALSE(executor.in_flight());
  EXPECT_FALSE(says_it_compiles());
  EXPECT_EQ(state(), TurnState::wanting);
  grant();
  EXPECT_EQ(status(event(0)), -54);
}

TEST_F(LateCode, OfALaneHoldsUpTheCommandsAfterIt) {
  const auto command = enqueue_late(1);
  enqueue(2);
  loop.pump();
  command->come_to_the_gate();
  grant_now();
  EXPECT_EQ(device.issued(), (std::vector{1, 2}));
}

struct LateParts : LateCode {
  static SlicingSettings in_parts() {
    SlicingSettings slicing;
    slicing.mode = SlicingSettings::Mode::blocks;
    slicing.planner.floor = 100;
    return slicing;
  }
  LateParts() : LateCode(in_parts()) {}

  std::shared_ptr<FakeLaunch> enqueue_launch() {
    slicing::Launch grid{.dimensions = 1};
    grid.size = {300, 1, 1};
    grid.local = {1, 1, 1};
    auto launch = std::make_shared<FakeLaunch>(device, lane, 1, grid);
    launch->parts_compile_late = true;
    EXPECT_TRUE(executor.enqueue(launch, event(0), {}));
    return launch;
  }
};

TEST_F(LateParts, AreCompiledAsTheFirstOfThem) {
  const auto launch = enqueue_launch();
  loop.pump();
  ASSERT_NE(launch->compiling_for, nullptr);
  EXPECT_EQ(state(), TurnState::idle);
  launch->compiling_for->compiled(*launch);
  grant_now();
  EXPECT_EQ(launch->parts.size(), 1U);
  while (device.complete_one()) loop.pump();
  EXPECT_EQ(launch->parts.size(), 3U);
  EXPECT_EQ(launch->wholes, 0);
  EXPECT_EQ(status(event(0)), kComplete);
}

TEST_F(LateParts, ThatTheDriverRefusesToMakeHaveTheLaunchRunWhole) {
  const auto launch = enqueue_launch();
  launch->refuse_to_compile_with = -5;
  loop.pump();
  EXPECT_EQ(launch->compiling_for, nullptr);
  grant_now();
  EXPECT_EQ(launch->wholes, 1);
  device.complete_all();
  EXPECT_EQ(status(event(0)), kComplete);
}

}  // namespace
}  // namespace fairgv::vgpu
