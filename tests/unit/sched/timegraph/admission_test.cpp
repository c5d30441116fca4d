// The sum of what reserves promise: TimeGraph, section 3, admission control.
#include "sched/policies/timegraph/admission.hpp"

#include <gtest/gtest.h>

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

TEST(Admission, ThreeThirdsFitAndNotANanosecondMore) {
  Admission admission;
  for (std::uint64_t name = 1; name <= 3; ++name) EXPECT_TRUE(admission.admit(name, {10ms, 30ms}));
  EXPECT_NEAR(admission.total(), 1.0, 1e-8);
  EXPECT_FALSE(admission.admit(4, {1us, 1s}));
}

TEST(Admission, TheLimitIsAPartOfTheDevice) {
  Admission admission(Share{500'000});
  EXPECT_TRUE(admission.admit(1, {5ms, 10ms}));
  EXPECT_FALSE(admission.admit(2, {1ms, 100ms}));
  EXPECT_FALSE(Admission(Share{0}).admit(1, {1ms, 1s}));
}

TEST(Admission, AReserveThatLeavesMakesRoom) {
  Admission admission;
  ASSERT_TRUE(admission.admit(1, {9ms, 10ms}));
  ASSERT_FALSE(admission.admit(2, {2ms, 10ms}));
  admission.release(1);
  EXPECT_TRUE(admission.admit(2, {2ms, 10ms}));
  admission.release(3);
  EXPECT_NEAR(admission.total(), 0.2, 1e-8);
}

TEST(Admission, AReserveThatGrowsIsComparedWithoutItsFormerPartAndKeepsThatIfItDoesNotFit) {
  Admission admission;
  ASSERT_TRUE(admission.admit(1, {6ms, 10ms}));
  ASSERT_TRUE(admission.admit(2, {3ms, 10ms}));
  EXPECT_TRUE(admission.admit(1, {7ms, 10ms}));
  EXPECT_FALSE(admission.admit(1, {8ms, 10ms}));
  EXPECT_NEAR(admission.total(), 1.0, 1e-8);
}

TEST(Admission, ALowerLimitLeavesActiveReserves) {
  Admission admission;
  ASSERT_TRUE(admission.admit(1, {6ms, 10ms}));
  admission.set_limit(Share{300'000});
  EXPECT_NEAR(admission.total(), 0.6, 1e-8);
  EXPECT_FALSE(admission.admit(2, {1ms, 10ms}));
}

TEST(Admission, MoreThanTheWholeAndNothingAreRefused) {
  Admission admission;
  EXPECT_FALSE(admission.admit(1, {11ms, 10ms}));
  EXPECT_FALSE(admission.admit(1, {Duration::max(), 1ns}));
  EXPECT_FALSE(admission.admit(1, {}));
  EXPECT_EQ(admission.total(), 0);
}

}  // namespace
}  // namespace fairgv::sched
