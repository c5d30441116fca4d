// An executor whose launches run in parts on a device that the test plays.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "runtime/vgpu/issue/slicing_settings.hpp"
#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {

inline constexpr std::uint64_t kBlocks = 100'000;

inline slicing::Launch row(std::uint64_t blocks) {
  return {.size = {blocks * 64, 1, 1}, .local = {64, 1, 1}};
}

inline std::uint64_t blocks_of(const slicing::Box& box) {
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
  /// Ends the commands on the device after `time`, and lets the loop thread go on.
  void run_for(Duration time, std::int32_t status = kComplete) {
    now += time;
    ASSERT_TRUE(device.complete_one(status));
    loop.pump();
  }
  /// The device does a work-group in a microsecond.
  void run_part(const FakeLaunch& launch) {
    run_for(std::chrono::microseconds(blocks_of(launch.parts.back())));
  }
  /// Runs parts until the launch has ended; turns are granted at once. Returns the number of turns.
  int run_to_end(const FakeLaunch& launch, wire::EventId completion, Duration slice) {
    int grants = 0;
    for (int steps = 0; status(completion) > kComplete && steps < 100'000; ++steps) {
      if (state() == session::TurnState::wanting) {
        ++grants;
        grant(slice);
      } else {
        run_part(launch);
      }
    }
    return grants;
  }
};

}  // namespace fairgv::vgpu
