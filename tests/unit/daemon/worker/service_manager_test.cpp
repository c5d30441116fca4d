// The times at which the daemon pings a service manager's watchdog.
#include "runtime/daemon/service/service_manager.hpp"

#include <gtest/gtest.h>

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, WithoutALimitWantsNothing) {
  const Watchdog watchdog(std::nullopt);
  EXPECT_FALSE(watchdog.deadline());
  EXPECT_FALSE(watchdog.due(Watchdog::Time::max()));
}

TEST(Watchdog, LooksFourTimesInItsLimit) {
  Watchdog watchdog(2s);
  const Watchdog::Time now{1h};
  ASSERT_TRUE(watchdog.due(now));
  watchdog.look(now, 1);
  EXPECT_EQ(watchdog.deadline(), now + 500ms);
  EXPECT_FALSE(watchdog.due(now + 499ms));
  EXPECT_TRUE(watchdog.due(now + 500ms));
}

TEST(Watchdog, TakesALoopForAliveOnlyIfItHasTurnedSinceTheLastLook) {
  Watchdog watchdog(1s);
  Watchdog::Time now{1h};
  EXPECT_TRUE(watchdog.look(now, 7));
  EXPECT_FALSE(watchdog.look(now += 250ms, 7));
  EXPECT_FALSE(watchdog.look(now += 250ms, 7));
  EXPECT_TRUE(watchdog.look(now += 250ms, 8));
  EXPECT_FALSE(watchdog.look(now += 250ms, 8));
}

}  // namespace
}  // namespace fairgv::daemon
