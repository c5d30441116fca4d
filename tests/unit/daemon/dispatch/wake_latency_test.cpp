// The limit for the wake-up of processors while a device is shared. A pipe stands for the system's file: it
// shows the written limits, and when it is closed.
#include "runtime/daemon/dispatch/wake_latency.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/unit/daemon/dispatch/wake_latency_pipe.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using Seen = WakeLatencyPipe::Seen;

struct WakeLatencyTest : testing::Test {
  WakeLatencyPipe pipe;
  WakeLatency latency{pipe.path()};
  WakeLatency::Time now{1h};
};

TEST_F(WakeLatencyTest, IsAskedForOnceAndHoldsForAWhileAfterTheLastWish) {
  EXPECT_EQ(latency.deadline(), std::nullopt);
  EXPECT_EQ(pipe.look(), Seen(std::nullopt, false));
  for (int wish = 0; wish < 10; ++wish) {
    latency.want(5us, now);
    now += WakeLatency::kHold / 2;
    latency.end(now);
  }
  EXPECT_EQ(pipe.look(), Seen(5, true));
  EXPECT_EQ(pipe.look(), Seen(std::nullopt, true)) << "written once";
  EXPECT_EQ(latency.deadline(), now + WakeLatency::kHold / 2);
  latency.end(now += WakeLatency::kHold / 2);
  EXPECT_EQ(pipe.look(), Seen(std::nullopt, false));
  EXPECT_EQ(latency.deadline(), std::nullopt);
}

TEST_F(WakeLatencyTest, CanBeAskedForAnewAndChanged) {
  latency.want(5us, now);
  latency.want(0us, now);
  EXPECT_EQ(pipe.look(), Seen(5, true));
  EXPECT_EQ(pipe.look(), Seen(0, true));
  latency.end(now += WakeLatency::kHold);
  EXPECT_EQ(pipe.look(), Seen(std::nullopt, false));
  latency.want(0us, now);
  EXPECT_EQ(pipe.look(), Seen(0, true));
}

TEST(WakeLatency, AFileThatCannotBeWrittenIsTriedOnce) {
  WakeLatencyPipe pipe;
  const std::string path = pipe.path() + "-later";
  WakeLatency latency(path);
  latency.want(0us, WakeLatency::Time(1h));
  EXPECT_EQ(latency.deadline(), std::nullopt);
  ASSERT_EQ(::rename(pipe.path().c_str(), path.c_str()), 0);
  latency.want(0us, WakeLatency::Time(2h));
  EXPECT_EQ(pipe.look(), Seen(std::nullopt, false));
}

}  // namespace
}  // namespace fairgv::daemon
