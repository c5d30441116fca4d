#include "sched/oversell/capacity.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/gover/load_for_test.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched::oversell {
namespace {

TEST(Capacity, TheTotalLoadIsTheSumOfUtilisationsTimesCaps) {
  EXPECT_NEAR(total_load(std::vector{load_of(kA, 50, 50, 20), load_of(kB, 50, 30, 15)}), 0.35, 1e-9);
}

TEST(Capacity, WhatIsNotSoldIsForSaleWhateverTheSignals) {
  EXPECT_EQ(for_sale({}, 0), kWholeDevice);
  EXPECT_EQ(for_sale(std::vector{load_of(kA, 30, 30, 30)}, 0), part(70));
}

TEST(Capacity, ASoldDeviceIsForSaleAfterThreeQuietSecondsUpToTheLimit) {
  const std::vector<Load> loads{load_of(kA, 50, 50, 20), load_of(kB, 50, 50, 15)};
  EXPECT_EQ(for_sale(loads, 2), Share{});
  EXPECT_EQ(for_sale(loads, 3), part(63));  // 98 - 35
  EXPECT_EQ(for_sale(loads, 3, part(50)), part(15));
}

TEST(Capacity, ABusyDeviceIsNotForSale) {
  EXPECT_EQ(for_sale(std::vector{load_of(kA, 50, 50, 50), load_of(kB, 50, 50, 49)}, 100), Share{});
}

TEST(Capacity, RememberedDemandCountsAndNotTheLatestSecond) {
  Load load = load_of(kA, 100, 100, 10);
  load.demand = part(60);
  EXPECT_EQ(for_sale(std::vector{load}, 3), part(38));
}

TEST(Capacity, OfANewTenantAllCounts) {
  Load load = load_of(kA, 100, 40, 1);
  load.is_new = true;
  EXPECT_EQ(for_sale(std::vector{load}, 3), part(58));
}

TEST(Capacity, OverbookingIsTheMultipleOfTheDeviceThatWasSold) {
  EXPECT_DOUBLE_EQ(
      overbooking(std::vector{load_of(kA, 50, 10, 1), load_of(kB, 50, 10, 1), load_of(kC, 50, 10, 1)}), 1.5);
}

TEST(Capacity, RoomIsMadeInProportionToWhatIsUnused) {
  Division division{{{load_of(kA, 50, 50, 10), part(50)}, {load_of(kB, 50, 50, 40), part(50)}}, {}};
  EXPECT_TRUE(make_room(division, part(25)));
  EXPECT_EQ(division.parts[0].cap, part(30));
  EXPECT_EQ(division.parts[1].cap, part(45));
  EXPECT_EQ(division.free, part(25));
}

TEST(Capacity, MoreThanIsUnusedIsNotMadeFree) {
  Division division{{{load_of(kA, 50, 50, 10), part(50)}, {load_of(kB, 50, 50, 40), part(50)}}, {}};
  EXPECT_FALSE(make_room(division, part(50.1)));
  EXPECT_EQ(division.parts[0].cap, part(50));
  EXPECT_TRUE(make_room(division, part(50)));
  EXPECT_EQ(division.parts[0].cap, part(10));
}

TEST(Capacity, FreeCapacityIsRoomAlready) {
  Division division{{{load_of(kA, 50, 50, 10), part(50)}}, part(50)};
  EXPECT_TRUE(make_room(division, part(50)));
  EXPECT_EQ(division.parts[0].cap, part(50));
}

TEST(StaticOversubscription, ACapIsTheSoldShareDividedByTheRatio) {
  EXPECT_EQ(StaticOversubscription{1.5}.cap(part(50)), Share{333'333});
  EXPECT_EQ(StaticOversubscription{4}.cap(part(50)), part(12.5));
}

TEST(StaticOversubscription, SellsTheDeviceAsOftenAsTheRatioSays) {
  const StaticOversubscription twice{2};
  EXPECT_EQ(twice.for_sale({}), kWholeDevice);
  std::vector<Load> loads(3, load_of(kA, 50, 25, 25));
  EXPECT_EQ(twice.for_sale(loads), part(50));
  loads.push_back(loads.front());
  EXPECT_EQ(twice.for_sale(loads), Share{});
}

}  // namespace
}  // namespace fairgv::sched::oversell
