#include <gtest/gtest.h>

#include "tests/harness/steady.hpp"

namespace fairgv::harness {
namespace {

TEST(Steady, IsAMachineThatWasAsFastBeforeAsAfter) {
  EXPECT_TRUE(is_steady(1, 1));
  EXPECT_TRUE(is_steady(100, 103));
  EXPECT_TRUE(is_steady(103, 100));
  EXPECT_FALSE(is_steady(100, 104));
  EXPECT_FALSE(is_steady(104, 100));
}

TEST(Steady, WindowsBetweenFastAndSlowDoNotCount) {
  const Spread spread =
      spread_of_steady({{{1, true}, {9, false}, {2, true}, {4, true}}, {{5, true}, {0.1, false}}});
  EXPECT_EQ(spread.median, 3);
  EXPECT_EQ(spread.lowest, 2);
  EXPECT_EQ(spread.highest, 5);
}

TEST(Steady, ARunOnAMachineThatNeverWasCountsWhole) {
  EXPECT_EQ(spread_of_steady({{{3, false}, {1, false}, {2, false}}}).median, 2);
  // Such a run does not count beside a run on a machine that was steady.
  const Spread spread = spread_of_steady({{{3, false}, {1, false}, {2, false}}, {{7, true}}});
  EXPECT_EQ(spread.median, 7);
  EXPECT_EQ(spread.lowest, 2);
  EXPECT_EQ(spread.highest, 7);
}

}  // namespace
}  // namespace fairgv::harness
