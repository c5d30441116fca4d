#include "sched/oversell/monitor.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/gover/load_for_test.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched::oversell {
namespace {

using namespace std::chrono_literals;

TEST(Monitor, UtilisationIsBusyTimeOverCapTimesOneSecond) {
  Monitor monitor(kA, part(50), 0, part(50));
  const Load& load = monitor.observe({kA, 150ms, 0}, part(30));
  EXPECT_DOUBLE_EQ(load.utilisation, 0.5);
  EXPECT_EQ(load.used, part(15));
}

TEST(Monitor, AnOverrunIsAUtilisationAboveOne) {
  Monitor monitor(kA, part(50), 0, part(50));
  EXPECT_DOUBLE_EQ(monitor.observe({kA, 330ms, 0}, part(30)).utilisation, 1.1);
}

TEST(Monitor, AServiceIsBrokenIfMoreThanAUnitIsMissing) {
  Monitor monitor(kA, part(50), 30, part(50));
  EXPECT_EQ(monitor.observe({kA, 500ms, 30}, part(50)).shortfall, 0);
  EXPECT_EQ(monitor.observe({kA, 500ms, 29}, part(50)).shortfall, 0);
  EXPECT_DOUBLE_EQ(monitor.observe({kA, 500ms, 24}, part(50)).shortfall, 0.2);
}

TEST(Monitor, ASlowServiceIsCountedOverSeveralSeconds) {
  Monitor monitor(kA, part(50), 2, part(50));  // 10 units in 5 s
  for (const std::uint64_t units : {3U, 1U, 3U, 1U, 2U}) monitor.observe({kA, 500ms, units}, part(50));
  EXPECT_DOUBLE_EQ(monitor.load().level, 2);
  EXPECT_EQ(monitor.load().shortfall, 0);
  for (const std::uint64_t units : {1U, 2U, 1U}) monitor.observe({kA, 500ms, units}, part(50));
  EXPECT_DOUBLE_EQ(monitor.load().level, 1.4);
  EXPECT_GT(monitor.load().shortfall, 0);
}

TEST(Monitor, TheNeedIsWhatTheTargetCostsNow) {
  Monitor monitor(kA, part(50), 100, part(50));
  EXPECT_EQ(monitor.observe({kA, 200ms, 80}, part(20)).needed, part(25));
  EXPECT_EQ(monitor.observe({kA, 200ms, 160}, part(20)).needed, part(12.5));
  EXPECT_EQ(monitor.observe({kA, 200ms, 20}, part(20)).needed, part(50));  // what was bought
}

TEST(Monitor, DemandIsTheMostThatWasUsedOrNeededLately) {
  Monitor monitor(kA, part(50), 100, part(50));
  monitor.observe({kA, 300ms, 150}, part(30));
  monitor.observe({kA, 200ms, 50}, part(30));
  EXPECT_EQ(monitor.load().demand, part(40));
  for (std::size_t second = 0; second < Monitor::kMemory; ++second) {
    EXPECT_EQ(monitor.load().demand, part(40));
    monitor.observe({kA, 100ms, 100}, part(30));
  }
  EXPECT_EQ(monitor.load().demand, part(10));
}

// While a program compiles and loads, a unit or two come at any price.
TEST(Monitor, AStartIsNeitherABrokenServiceNorADemand) {
  Monitor monitor(kA, part(50), 20, part(50));
  EXPECT_EQ(monitor.observe({kA, 100ms, 0}, part(50)).shortfall, 0);
  EXPECT_EQ(monitor.observe({kA, 100ms, 1}, part(50)).shortfall, 0);
  monitor.observe({kA, 100ms, 20}, part(50));
  for (std::size_t second = 3; second < Monitor::kNewFor; ++second)
    monitor.observe({kA, 100ms, 20}, part(50));
  EXPECT_FALSE(monitor.load().is_new);
  EXPECT_EQ(monitor.load().demand, part(10));
  EXPECT_GT(monitor.observe({kA, 100ms, 10}, part(50)).shortfall, 0) << "it has started";
}

TEST(Monitor, AStartLastsNoLongerThanATenantIsNew) {
  Monitor monitor(kA, part(50), 20, part(50));
  for (std::size_t second = 1; second < Monitor::kNewFor; ++second) {
    EXPECT_EQ(monitor.observe({kA, 500ms, 5}, part(50)).shortfall, 0);
  }
  EXPECT_GT(monitor.observe({kA, 500ms, 5}, part(50)).shortfall, 0);
  EXPECT_EQ(monitor.load().demand, part(50));
}

TEST(Monitor, OfANewTenantAllOfTheCapCountsAsUsed) {
  Monitor monitor(kA, part(50), 0, part(50));
  EXPECT_EQ(monitor.load().floor(), part(50));
  for (std::size_t second = 1; second < Monitor::kNewFor; ++second) {
    EXPECT_EQ(monitor.observe({kA, 100ms, 0}, part(40)).floor(), part(40));
  }
  EXPECT_EQ(monitor.observe({kA, 100ms, 0}, part(40)).floor(), part(10));
}

}  // namespace
}  // namespace fairgv::sched::oversell
