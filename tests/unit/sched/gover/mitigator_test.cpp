// Algorithm 1 of gOver, with each of its resolved defects.
#include "sched/oversell/mitigator.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/gover/load_for_test.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched::oversell {
namespace {

constexpr TenantId kD{4};

struct Mitigator : testing::Test {
  void add(const Load& load) { division.parts.push_back({load, load.cap}); }
  Share cap(TenantId id) const {
    for (const auto& each : division.parts) {
      if (each.load.id == id) return each.cap;
    }
    return {};
  }
  std::uint64_t sum() const {
    std::uint64_t sum = division.free.ppm;
    for (const auto& each : division.parts) sum += each.cap.ppm;
    return sum;
  }

  Division division;
};

TEST_F(Mitigator, OneFifthOfTheUnusedCapOfTheLightestGoesToTheOverloadedTenant) {
  add(load_of(kA, 50, 30, 30));
  add(load_of(kB, 50, 40, 20));
  EXPECT_EQ(mitigate(division, {kA}), part(4));
  EXPECT_EQ(cap(kA), part(34));
  EXPECT_EQ(cap(kB), part(36));
}

TEST_F(Mitigator, TheLightestGivesAndNotTheLastBelowMaxInt) {
  add(load_of(kA, 50, 30, 30));
  add(load_of(kB, 50, 30, 3));
  add(load_of(kC, 50, 30, 20));
  mitigate(division, {kA});
  EXPECT_LT(cap(kB), part(30));
  EXPECT_EQ(cap(kC), part(30));
}

TEST_F(Mitigator, TheOverloadedTenantNeverGivesToItself) {
  // Slow by its own fault it would be the lightest by use.
  add(served(load_of(kA, 50, 30, 1), 0.1, 10));
  add(load_of(kB, 50, 30, 28));
  EXPECT_EQ(mitigate(division, {kA}), part(0.4));
  EXPECT_EQ(cap(kA), part(30.4));
}

TEST_F(Mitigator, FactorsAreFractionsAndNotIntegers) {
  // As integers, both utilisations would be 0.
  add(load_of(kA, 50, 30, 30));
  add(load_of(kB, 50, 20, 18));
  add(load_of(kC, 50, 20, 10));
  mitigate(division, {kA});
  EXPECT_EQ(cap(kB), part(20));
  EXPECT_EQ(cap(kC), part(18));
}

TEST_F(Mitigator, AShortfallCountsAsAPartOfTheTargetWhateverItsUnit) {
  // 0.9 + 0 is heavier than 0.5 + 0.3, though e = 30 units per second.
  add(load_of(kA, 50, 30, 30));
  add(load_of(kB, 50, 20, 18));
  Load slow = served(load_of(kC, 50, 20, 10), 0.7, 14);
  add(slow);
  EXPECT_NEAR(division.parts[1].factor(), 0.9, 1e-9);
  EXPECT_NEAR(division.parts[2].factor(), 0.8, 1e-9);
  mitigate(division, {kA});
  EXPECT_LT(cap(kC), part(20));
  EXPECT_EQ(cap(kB), part(20));
}

TEST_F(Mitigator, TheLightestWithNothingToGiveIsPassedOver) {
  Load fresh = load_of(kB, 50, 20, 1);
  fresh.is_new = true;
  add(load_of(kA, 50, 30, 30));
  add(fresh);
  add(load_of(kC, 50, 40, 30));
  mitigate(division, {kA});
  EXPECT_EQ(cap(kB), part(20));
  EXPECT_EQ(cap(kC), part(38));
}

TEST_F(Mitigator, NoCapFallsBelowWhatItsTenantUsesOrNeeds) {
  add(served(load_of(kA, 90, 20, 20), 0.3, 70));
  add(load_of(kB, 50, 40, 30));
  add(served(load_of(kC, 50, 40, 10), 0.9, 25));
  mitigate(division, {kA, 0.7});
  EXPECT_GE(cap(kB), part(30));
  EXPECT_GE(cap(kC), part(25));
  EXPECT_LT(cap(kB), part(31));  // steps go on while they are worth it
  EXPECT_LT(cap(kC), part(26));
}

TEST_F(Mitigator, TheReceiverGrowsToWhatItBoughtAtMost) {
  add(served(load_of(kA, 31, 30, 30), 0.5, 31));
  add(load_of(kB, 50, 40, 1));
  EXPECT_EQ(mitigate(division, {kA, 0.5}), part(1));
  EXPECT_EQ(cap(kA), part(31));
}

TEST_F(Mitigator, FreeCapacityGoesFirst) {
  division.free = part(5);
  add(load_of(kA, 50, 20, 20));
  add(load_of(kB, 50, 40, 1));
  EXPECT_EQ(mitigate(division, {kA}), part(4));  // a fifth of its cap
  EXPECT_EQ(division.free, part(1));
  EXPECT_EQ(cap(kB), part(40));
}

TEST_F(Mitigator, ABrokenServiceGetsItsNeedAndATenthInOneSecond) {
  add(served(load_of(kA, 50, 20, 20), 0.8, 25));
  add(load_of(kB, 50, 40, 20));
  EXPECT_EQ(mitigate(division, {kA, 0.2}), part(7.5));
  EXPECT_EQ(cap(kA), part(27.5));
}

TEST_F(Mitigator, AsALastResortABrokenServiceGetsWhatOthersUseBeyondTheirTargets) {
  add(served(load_of(kA, 50, 20, 20), 0.8, 25));
  add(served(load_of(kB, 50, 50, 50), 1.4, 35));
  mitigate(division, {kA, 0.2});
  EXPECT_EQ(cap(kA), part(27.5));
  EXPECT_EQ(cap(kB), part(42.5));
}

TEST_F(Mitigator, EvenThenTargetsAreKeptWithSomeToSpare) {
  add(served(load_of(kA, 90, 20, 20), 0.4, 50));
  add(served(load_of(kB, 50, 50, 50), 1.25, 40));
  mitigate(division, {kA, 0.6});
  EXPECT_EQ(cap(kB), part(44));
}

TEST_F(Mitigator, ANewTenantOrOneWithoutATargetGivesNothingThatItUses) {
  add(served(load_of(kA, 90, 20, 20), 0.4, 50));
  add(load_of(kB, 50, 40, 40));
  Load fresh = served(load_of(kC, 50, 40, 40), 2, 20);
  fresh.is_new = true;
  add(fresh);
  EXPECT_EQ(mitigate(division, {kA, 0.6}), Share{});
}

TEST_F(Mitigator, ATenantWithABrokenServiceOfItsOwnKeepsWhatItHasLatelyNeeded) {
  add(served(load_of(kA, 90, 20, 20), 0.4, 50));
  Load slow = served(load_of(kB, 50, 40, 10), 0.9, 11);
  slow.demand = part(40);
  add(slow);
  EXPECT_EQ(mitigate(division, {kA, 0.6}), Share{});
}

TEST_F(Mitigator, AHighUseAloneTakesNothingThatOthersUse) {
  add(load_of(kA, 50, 20, 20));
  add(served(load_of(kB, 50, 50, 50), 1.4, 35));
  EXPECT_EQ(mitigate(division, {kA}), Share{});
}

TEST_F(Mitigator, AnUnknownTenantChangesNothing) {
  add(load_of(kA, 50, 20, 2));
  EXPECT_EQ(mitigate(division, {kD, 0.5}), Share{});
  EXPECT_EQ(cap(kA), part(20));
}

TEST_F(Mitigator, TheSumNeverChanges) {
  division.free = part(1.2345);
  add(served(load_of(kA, 90, 20, 20), 0.3, 66.6666));
  add(load_of(kB, 50, 33.3333, 11.1111));
  add(served(load_of(kC, 50, 41, 39), 1.3, 30));
  const std::uint64_t before = sum();
  mitigate(division, {kA, 0.7});
  EXPECT_EQ(sum(), before);
}

}  // namespace
}  // namespace fairgv::sched::oversell
