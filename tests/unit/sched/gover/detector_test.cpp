#include "sched/oversell/detector.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/gover/load_for_test.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched::oversell {
namespace {

TEST(Detector, AUtilisationAboveTheLineThreeTimesInSuccessionIsASignal) {
  Detector detector;
  const std::vector<Load> high{load_of(kA, 50, 20, 19.5)};
  const std::vector<Load> lower{load_of(kA, 50, 20, 19)};
  EXPECT_TRUE(detector.look(high).empty());
  EXPECT_TRUE(detector.look(high).empty());
  EXPECT_TRUE(detector.look(lower).empty());
  EXPECT_TRUE(detector.look(high).empty());
  EXPECT_TRUE(detector.look(high).empty());
  EXPECT_EQ(detector.look(high), (std::vector<Overload>{{kA, 0}}));
  EXPECT_EQ(detector.look(high).size(), 1U);
}

TEST(Detector, AServiceBelowItsTargetIsASignalAtOnce) {
  Detector detector;
  const auto found = detector.look(std::vector{served(load_of(kA, 50, 20, 20), 0.75, 26)});
  EXPECT_EQ(found, (std::vector<Overload>{{kA, 0.25}}));
}

TEST(Detector, ATenantThatLeavesItsCapUnusedIsNotShortOfCapacity) {
  Detector detector;
  EXPECT_TRUE(detector.look(std::vector{served(load_of(kA, 50, 20, 10), 0.5, 20)}).empty());
}

TEST(Detector, ATenantWithAllOfTheCapThatItBoughtIsNotOverloaded) {
  Detector detector;
  for (int second = 0; second < 5; ++second) {
    EXPECT_TRUE(detector.look(std::vector{served(load_of(kA, 20, 20, 20), 0.5, 20)}).empty());
  }
  EXPECT_EQ(detector.quiet_seconds(), 5);
}

TEST(Detector, TheMostBrokenServiceIsFirst) {
  Detector detector;
  const std::vector<Load> loads{load_of(kA, 50, 20, 20), served(load_of(kB, 50, 20, 20), 0.9, 23),
                                served(load_of(kC, 50, 20, 20), 0.5, 40)};
  detector.look(loads);
  detector.look(loads);
  const auto found = detector.look(loads);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].id, kC);
  EXPECT_EQ(found[1].id, kB);
  EXPECT_EQ(found[2].id, kA);
}

TEST(Detector, QuietSecondsAreCountedFromTheLastSignal) {
  Detector detector;
  const std::vector<Load> quiet{load_of(kA, 50, 20, 10)};
  detector.look(quiet);
  detector.look(quiet);
  EXPECT_EQ(detector.quiet_seconds(), 2);
  detector.look(std::vector{served(load_of(kA, 50, 20, 20), 0.5, 40)});
  EXPECT_EQ(detector.quiet_seconds(), 0);
}

TEST(Detector, AForgottenTenantBeginsAnew) {
  Detector detector;
  const std::vector<Load> high{load_of(kA, 50, 20, 20)};
  detector.look(high);
  detector.look(high);
  detector.forget(kA);
  EXPECT_TRUE(detector.look(high).empty());
}

}  // namespace
}  // namespace fairgv::sched::oversell
