// The length of turns, by the number of tenants that want the device.
#include <gtest/gtest.h>

#include "sched/slice_rule.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

TEST(SliceRule, ARoundIsSharedAmongThoseThatWantTheDeviceWithinBounds) {
  constexpr SliceRule kRule{6ms, 15ms, 90ms};
  EXPECT_EQ(kRule.of(2), 15ms);
  EXPECT_EQ(kRule.of(6), 15ms);
  EXPECT_EQ(kRule.of(9), 10ms);
  EXPECT_EQ(kRule.of(15), 6ms);
  EXPECT_EQ(kRule.of(10'000), 6ms);
}

TEST(SliceRule, WhileNobodyWantsTheDeviceItIsAsForOne) {
  constexpr SliceRule kRule{6ms, 100ms, 90ms};
  EXPECT_EQ(kRule.of(0), 90ms);
  EXPECT_EQ(kRule.of(1), 90ms);
}

TEST(SliceRule, AloneAboutSixMillisecondsAreInFlightUnlessSlicesAreShorterOrLonger) {
  EXPECT_EQ(kAdaptiveSlice.alone(), 6ms);
  EXPECT_EQ(SliceRule::constant(2ms).alone(), 2ms);
  EXPECT_EQ(SliceRule::constant(30ms).alone(), 30ms);
}

TEST(SliceRule, AConstantOneIsTheSameForAnyNumber) {
  constexpr SliceRule kRule = SliceRule::constant(7ms);
  EXPECT_TRUE(kRule.is_constant());
  EXPECT_FALSE(kAdaptiveSlice.is_constant());
  for (const std::size_t tenants : {0U, 1U, 3U, 1'000U}) EXPECT_EQ(kRule.of(tenants), 7ms);
}

}  // namespace
}  // namespace fairgv::sched
