// The device time of the last half second.
#include <gtest/gtest.h>

#include "runtime/daemon/books/usage_window.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

constexpr UsageWindow::Time at(std::chrono::nanoseconds time) {
  return UsageWindow::Time(1'000s + time);
}

TEST(UsageWindow, HoldsWhatWasUsedLately) {
  UsageWindow window;
  window.add(at(0ms), at(10ms), 6ms);
  window.add(at(10ms), at(20ms), 4ms);
  EXPECT_EQ(window.within(at(20ms)), 10ms);
  EXPECT_EQ(window.within(at(450ms)), 10ms);
}

TEST(UsageWindow, ForgetsWhatIsOlderThanHalfASecond) {
  UsageWindow window;
  window.add(at(0ms), at(10ms), 6ms);
  EXPECT_EQ(window.within(at(510ms)), 0ms);
  EXPECT_EQ(window.within(at(5s)), 0ms);
}

TEST(UsageWindow, SpreadsAChargeOverTheTimeInWhichItArose) {
  UsageWindow window;
  window.add(at(0s), at(10s), 5s);  // half of ten seconds: half of the window, too
  const auto recent = window.within(at(10s));
  EXPECT_GE(recent, 235ms);
  EXPECT_LE(recent, 250ms);
  // A quarter of a second later the older half of that use has left the window.
  EXPECT_LE(window.within(at(10'250ms)), 125ms);
}

TEST(UsageWindow, TakesAChargeThatTookNoTime) {
  UsageWindow window;
  window.add(at(7ms), at(7ms), 3ms);
  EXPECT_EQ(window.within(at(7ms)), 3ms);
}

}  // namespace
}  // namespace fairgv::daemon
