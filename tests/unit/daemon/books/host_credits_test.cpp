// Credits on the host's processors: exact, and bounded.
#include "runtime/daemon/books/host_credits.hpp"

#include <gtest/gtest.h>

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

constexpr TenantId kA{1}, kB{2};

struct HostCreditsOfTwoProcessors : testing::Test {
  HostCreditsOfTwoProcessors() { credits.pass(now); }
  void pass(HostCredits::Duration time) { credits.pass(now += time); }
  HostCredits credits{2};
  HostCredits::Time now{100s};
};

TEST_F(HostCreditsOfTwoProcessors, AreHandedOutByWeightToTenantsThatRan) {
  credits.ran(kA, 300, 10ms);
  credits.ran(kB, 100, 20ms);
  EXPECT_EQ(credits.left(kA), -10ms);
  pass(29ms);
  EXPECT_EQ(credits.left(kB), -20ms) << "the period is not over";
  pass(1ms);
  EXPECT_EQ(credits.left(kA), 35ms) << "45 of the 60 ms of two processors";
  EXPECT_EQ(credits.left(kB), -5ms);
  credits.ran(kB, 100, 1ms);
  pass(30ms);
  EXPECT_EQ(credits.left(kA), 35ms) << "a tenant that did not run receives nothing";
  EXPECT_EQ(credits.left(kB), 54ms);
}

TEST_F(HostCreditsOfTwoProcessors, StayWithinAPeriodOfZero) {
  credits.ran(kA, 1, 10s);
  EXPECT_EQ(credits.left(kA), -60ms);
  for (int period = 0; period < 5; ++period) {
    credits.ran(kA, 1, 1ns);
    pass(30ms);
  }
  EXPECT_EQ(credits.left(kA), 60ms);
}

TEST_F(HostCreditsOfTwoProcessors, BeginAnewAfterAPauseInWhichNobodyLooked) {
  credits.ran(kA, 1, 50ms);
  pass(10s);
  EXPECT_EQ(credits.left(kA), 0ms);
  credits.ran(kA, 1, 6ms);
  pass(60ms);
  EXPECT_EQ(credits.left(kA), 60ms) << "two periods at once";
  EXPECT_EQ(credits.left(kB), 0ms) << "unknown";
}

}  // namespace
}  // namespace fairgv::daemon
