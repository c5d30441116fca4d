// Commands of a device that its driver calls failed: no more are handed to it until the daemon has decided.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/vgpu/issue/failing_devices.hpp"
#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;

constexpr std::int32_t kGone = -2;

struct FailingDeviceTest : ExecutorTest {
  FailingDeviceTest() {
    failure_answer = [](std::int32_t error) { return error == kGone; };
  }
};

TEST_F(FailingDeviceTest, CommandsUnderWayAreLostAndOthersWait) {
  for (const std::uint32_t each : {0U, 1U}) enqueue(static_cast<int>(each), event(each));
  grant_now();
  enqueue(2, event(2));
  device.complete_one(kGone);
  EXPECT_EQ(status(event(0)), kGone);
  loop.pump();
  device.complete_all();
  EXPECT_EQ(device.issued(), (std::vector<int>{0, 1}));
  EXPECT_EQ(status(event(2)), kQueued);
  loop.use_device(0);
  EXPECT_TRUE(loop.needs_pump());
  loop.pump();
  EXPECT_EQ(device.issued(), (std::vector<int>{0, 1, 2}));
  device.complete_all();
  EXPECT_EQ(status(event(2)), kComplete);
}

TEST_F(FailingDeviceTest, ACommandThatTheDriverRefusesHasTheNextWait) {
  enqueue(1, event(0), {}, kGone);
  grant_now();
  EXPECT_EQ(status(event(0)), kGone);
  enqueue(2, event(1));
  loop.pump();
  EXPECT_TRUE(device.issued().empty());
  EXPECT_EQ(status(event(1)), kQueued);
  loop.use_device(0);
  loop.pump();
  EXPECT_EQ(device.issued(), std::vector<int>{2});
}

TEST_F(FailingDeviceTest, AnyOtherErrorKeepsNothingBack) {
  enqueue(1, event(0), {}, -5);
  enqueue(2, event(1));
  grant_now();
  EXPECT_EQ(status(event(0)), -5);
  EXPECT_EQ(device.issued(), std::vector<int>{2});
}

TEST_F(FailingDeviceTest, AnotherSessionGetsTheTurnMeanwhile) {
  enqueue(1, event(0));
  grant_now();
  enqueue(2, event(1));
  turns[0].state = static_cast<std::uint32_t>(TurnState::busy_asked);
  device.complete_one(kGone);
  loop.pump();
  EXPECT_EQ(state(), TurnState::idle);
  loop.use_device(0);
  loop.pump();
  EXPECT_EQ(state(), TurnState::wanting);
}

TEST_F(FailingDeviceTest, ASessionThatLeavesTakesAlongWhatWaits) {
  enqueue(1, event(0), {}, kGone);
  grant_now();
  enqueue(2, event(1));
  loop.pump();
  loop.rest(true);
  EXPECT_TRUE(loop.at_rest());
  EXPECT_EQ(loop.standing().nodes.size(), 1U);
  // It stays after all, and is still not to use the device.
  loop.rest(false);
  loop.pump();
  EXPECT_TRUE(device.issued().empty());
}

TEST(FailingDevices, TheDaemonIsAskedOnceUntilItHasAnswered) {
  std::vector<std::string> asked;
  bool is_heard = false;
  FailingDevices devices([&](const session::DeviceFailed& failed) {
    asked.push_back(std::to_string(failed.device) + " " + failed.reason);
    return is_heard;
  });
  FailingDevices::Time now{1h};
  EXPECT_FALSE(devices.fails(1, "gone", now)) << "nobody has heard of it";
  is_heard = true;
  EXPECT_TRUE(devices.fails(1, "gone", now));
  EXPECT_TRUE(devices.fails(1, "gone", now + 1h));
  EXPECT_TRUE(devices.fails(0, "out of reach", now));
  EXPECT_EQ(asked, (std::vector<std::string>{"1 gone", "1 gone", "0 out of reach"}));
  now += 2h;
  devices.used_again(1, now);
  EXPECT_FALSE(devices.fails(1, "gone", now + 1ms)) << "its errors are the program's for a while";
  EXPECT_TRUE(devices.fails(1, "gone", now + FailingDevices::kBetweenQuestions));
  EXPECT_EQ(asked.size(), 4U);
  EXPECT_FALSE(devices.fails(session::kMaxDevices, "none", now));
}

}  // namespace
}  // namespace fairgv::vgpu
