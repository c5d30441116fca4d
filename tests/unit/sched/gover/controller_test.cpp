#include "sched/oversell/controller.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/gover/load_for_test.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched::oversell {
namespace {

using namespace std::chrono_literals;

struct OversellController : testing::Test {
  Report seconds(std::size_t count, const std::vector<Observation>& seen) {
    Report last;
    while (count-- > 0) last = controller.second(seen);
    return last;
  }

  Controller controller;
};

TEST_F(OversellController, SellsTheDeviceOnceWithoutLookingAtLoads) {
  EXPECT_EQ(controller.for_sale(), kWholeDevice);
  EXPECT_TRUE(controller.sell(kA, part(50), 0));
  EXPECT_TRUE(controller.sell(kB, part(50), 0));
  EXPECT_EQ(controller.for_sale(), Share{});
  EXPECT_FALSE(controller.sell(kC, part(1), 0));
  EXPECT_EQ(controller.take_changes(), (std::vector<CapChange>{{kA, part(50)}, {kB, part(50)}}));
  EXPECT_TRUE(controller.take_changes().empty());
}

TEST_F(OversellController, OversellsWhatTenantsHaveNotUsedForTenSecondsAndTakesItFromTheirCaps) {
  controller.sell(kA, part(50), 0);
  controller.sell(kB, part(50), 0);
  controller.take_changes();
  seconds(Monitor::kNewFor - 1, {{kA, 100ms, 0}, {kB, 300ms, 0}});
  EXPECT_EQ(controller.for_sale(), Share{});
  seconds(1, {{kA, 100ms, 0}, {kB, 300ms, 0}});
  EXPECT_EQ(controller.for_sale(), part(58));
  EXPECT_TRUE(controller.take_changes().empty());
  EXPECT_FALSE(controller.sell(kC, part(58.1), 0));
  EXPECT_TRUE(controller.sell(kC, part(30), 0));
  EXPECT_EQ(controller.take_changes(),
            (std::vector<CapChange>{{kA, part(30)}, {kB, part(40)}, {kC, part(30)}}));
  EXPECT_DOUBLE_EQ(controller.overbooking(), 1.3);
  EXPECT_EQ(controller.for_sale(), part(28));  // 98 - 10 - 30 - 30
}

TEST_F(OversellController, RefusesATenantThatIsHereAndAnEmptyPurchase) {
  EXPECT_TRUE(controller.sell(kA, part(20), 0));
  EXPECT_FALSE(controller.sell(kA, part(20), 0));
  EXPECT_FALSE(controller.sell(kB, Share{}, 0));
  EXPECT_EQ(controller.free(), part(80));
}

TEST_F(OversellController, AnOverloadedTenantGetsCapacityBackAndSaleEndsForThreeSeconds) {
  controller.sell(kA, part(100), 0);
  seconds(Monitor::kNewFor, {{kA, 200ms, 0}});
  ASSERT_TRUE(controller.sell(kB, part(70), 0));
  ASSERT_EQ(controller.cap(kA), part(30));
  seconds(Monitor::kNewFor, {{kA, 200ms, 0}, {kB, 100ms, 0}});
  ASSERT_GT(controller.for_sale(), Share{});
  seconds(2, {{kA, 300ms, 0}, {kB, 100ms, 0}});
  EXPECT_EQ(controller.cap(kA), part(30));
  const Report report = seconds(1, {{kA, 300ms, 0}, {kB, 100ms, 0}});
  EXPECT_EQ(report.overloaded, (std::vector<Overload>{{kA, 0}}));
  EXPECT_FALSE(report.warning);
  EXPECT_EQ(controller.cap(kA), part(36));
  EXPECT_EQ(controller.cap(kB), part(64));
  EXPECT_EQ(controller.for_sale(), Share{});
  seconds(2, {{kA, 300ms, 0}, {kB, 100ms, 0}});
  EXPECT_EQ(controller.for_sale(), Share{});
  seconds(1, {{kA, 300ms, 0}, {kB, 100ms, 0}});
  EXPECT_GT(controller.for_sale(), Share{});
}

TEST_F(OversellController, SeveralOverloadedTenantsAreAWarningAndAreHelpedAllTheSame) {
  controller.sell(kA, part(60), 100);
  controller.sell(kB, part(40), 100);
  seconds(Monitor::kNewFor, {{kA, 100ms, 100}, {kB, 100ms, 100}});
  ASSERT_TRUE(controller.sell(kC, part(70), 0));
  seconds(Monitor::kNewFor, {{kA, 100ms, 100}, {kB, 100ms, 100}, {kC, 100ms, 0}});
  const Share a = controller.cap(kA);
  const Share b = controller.cap(kB);
  const Report report = seconds(1, {{kA, a.of(1s), 80}, {kB, b.of(1s), 50}, {kC, 100ms, 0}});
  ASSERT_EQ(report.overloaded.size(), 2U);
  EXPECT_EQ(report.overloaded.front().id, kB);
  EXPECT_TRUE(report.warning);
  EXPECT_GT(controller.cap(kA), a);
  EXPECT_GT(controller.cap(kB), b);
}

TEST_F(OversellController, ABrokenServiceThatNobodyCanHelpIsAWarning) {
  controller.sell(kA, part(60), 100);
  controller.sell(kB, part(40), 0);
  seconds(Monitor::kNewFor, {{kA, 100ms, 100}, {kB, 400ms, 0}});
  ASSERT_TRUE(controller.sell(kC, part(48), 0));
  EXPECT_TRUE(seconds(1, {{kA, controller.cap(kA).of(1s), 50}, {kB, 400ms, 0}, {kC, 480ms, 0}}).warning);
}

TEST_F(OversellController, TheCapOfATenantThatLeavesIsFree) {
  controller.sell(kA, part(60), 0);
  controller.remove(kA);
  controller.remove(kA);
  EXPECT_EQ(controller.free(), kWholeDevice);
  EXPECT_EQ(controller.for_sale(), kWholeDevice);
  EXPECT_EQ(controller.cap(kA), Share{});
}

TEST_F(OversellController, TakesTenantsOverWithTheCapsThatTheyHad) {
  EXPECT_TRUE(controller.take_over(kA, part(80), part(60), 0));
  EXPECT_FALSE(controller.take_over(kA, part(80), part(10), 0));
  EXPECT_FALSE(controller.take_over(kB, part(20), part(30), 0));  // more than it bought
  EXPECT_FALSE(controller.take_over(kB, part(80), part(50), 0));  // more than is free
  EXPECT_TRUE(controller.take_over(kB, part(80), part(40), 0));
  EXPECT_EQ(controller.free(), Share{});
  EXPECT_DOUBLE_EQ(controller.overbooking(), 1.6);
  seconds(Monitor::kNewFor - 1, {{kA, 100ms, 0}, {kB, 100ms, 0}});
  EXPECT_EQ(controller.for_sale(), Share{});  // 60 + 40 % count as used
  seconds(1, {{kA, 100ms, 0}, {kB, 100ms, 0}});
  EXPECT_EQ(controller.for_sale(), part(78));
}

TEST_F(OversellController, ANewTargetHoldsFromTheNextSecondOn) {
  controller.sell(kA, part(60), 0);
  EXPECT_EQ(seconds(1, {{kA, 100ms, 50}}).loads[0].shortfall, 0);
  controller.set_target(kA, 100);
  EXPECT_DOUBLE_EQ(seconds(1, {{kA, 100ms, 50}}).loads[0].shortfall, 0.5);
}

TEST_F(OversellController, ObservationsOfUnknownTenantsAreIgnoredAndMissingOnesAreIdle) {
  controller.sell(kA, part(60), 0);
  const Report report = seconds(1, {{kB, 900ms, 7}});
  ASSERT_EQ(report.loads.size(), 1U);
  EXPECT_EQ(report.loads[0].used, Share{});
}

TEST_F(OversellController, AFixedRatioNeverChangesACap) {
  controller = Controller({.fixed_ratio = StaticOversubscription{2}});
  for (const TenantId id : {kA, kB, kC}) EXPECT_TRUE(controller.sell(id, part(60), 100));
  EXPECT_FALSE(controller.sell({4}, part(60), 100));
  EXPECT_EQ(controller.take_changes().size(), 3U);
  seconds(20, {{kA, 300ms, 1}, {kB, 10ms, 100}});
  EXPECT_TRUE(controller.take_changes().empty());
  EXPECT_EQ(controller.cap(kA), part(30));
}

TEST_F(OversellController, ATenantBuysMoreOnlyIfThatIsForSaleAndItsCapGrowsWithIt) {
  controller.sell(kA, part(30), 0);
  controller.sell(kB, part(50), 0);
  controller.take_changes();
  EXPECT_FALSE(controller.resize(kA, part(51)));
  EXPECT_FALSE(controller.resize(kC, part(1)));
  EXPECT_FALSE(controller.resize(kA, Share{}));
  EXPECT_TRUE(controller.resize(kA, part(50)));
  EXPECT_EQ(controller.take_changes(), (std::vector<CapChange>{{kA, part(50)}}));
  EXPECT_EQ(controller.bought(kA), part(50));
  EXPECT_EQ(controller.free(), Share{});
}

TEST_F(OversellController, ATenantThatBuysLessGivesTheRestBack) {
  controller.sell(kA, part(80), 0);
  controller.take_changes();
  EXPECT_TRUE(controller.resize(kA, part(20)));
  EXPECT_EQ(controller.take_changes(), (std::vector<CapChange>{{kA, part(20)}}));
  EXPECT_EQ(controller.free(), part(80));
  EXPECT_EQ(controller.for_sale(), part(80));
}

TEST_F(OversellController, WhatATenantBuysInAdditionComesFromWhatOthersLeaveUnused) {
  controller.sell(kA, part(50), 0);
  controller.sell(kB, part(50), 0);
  seconds(Monitor::kNewFor, {{kA, 100ms, 0}, {kB, 100ms, 0}});
  ASSERT_EQ(controller.for_sale(), part(78));
  ASSERT_TRUE(controller.resize(kA, part(80)));
  EXPECT_LE(controller.cap(kA), part(80));
  EXPECT_GE(controller.cap(kA), part(50));
  EXPECT_EQ(controller.cap(kA).ppm + controller.cap(kB).ppm + controller.free().ppm, Share::kWholePpm);
  EXPECT_GE(controller.cap(kB), part(10)) << "what it uses stays";
}

}  // namespace
}  // namespace fairgv::sched::oversell
