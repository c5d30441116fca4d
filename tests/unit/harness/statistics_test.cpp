#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "tests/harness/statistics.hpp"

namespace fairgv::harness {
namespace {

TEST(Statistics, TheMedianOfAnEvenNumberLeansNeitherWay) {
  EXPECT_EQ(median({30, 10, 20}), 20);
  EXPECT_EQ(median({40, 10, 30, 20}), 25);
  EXPECT_EQ(median({1, 2}), 1.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({}), 0);
}

TEST(Statistics, APercentileIsOneOfTheValues) {
  const std::vector<double> values{40, 10, 30, 20};
  EXPECT_EQ(percentile(values, 25), 10);
  EXPECT_EQ(percentile(values, 26), 20);
  EXPECT_EQ(percentile(values, 50), 20);
  EXPECT_EQ(percentile(values, 99), 40);
  EXPECT_EQ(percentile(values, 100), 40);
}

TEST(Statistics, OfOneValueEveryPercentileIsThatValueAndOfNoneItIsZero) {
  EXPECT_EQ(percentile({7}, 1), 7);
  EXPECT_EQ(percentile({7}, 100), 7);
  EXPECT_EQ(percentile({}, 50), 0);
}

TEST(Statistics, PercentilesOfAHundredAreTheirRanks) {
  std::vector<double> values(100);
  std::iota(values.begin(), values.end(), 1.0);
  const std::mt19937::result_type seed = std::random_device{}();
  std::shuffle(values.begin(), values.end(), std::mt19937(seed));
  for (int percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(percentile(values, percent), percent) << "seed " << seed;
  }
}

TEST(Statistics, TheMinMaxRatioIsTheSmallestOverTheLargest) {
  EXPECT_EQ(min_max_ratio({4, 2, 3}), 0.5);
  EXPECT_EQ(min_max_ratio({3, 3}), 1);
  EXPECT_EQ(min_max_ratio({0, 0}), 0);
}

TEST(Statistics, AnEstimateIsTheMeanWithinTwoOfItsStandardErrors) {
  const Estimate estimate = estimate_of({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(estimate.mean, 3);
  EXPECT_NEAR(estimate.within, 1.96 * std::sqrt(2.5 / 5), 1e-12);
  EXPECT_DOUBLE_EQ(estimate_of({7}).mean, 7);
  EXPECT_DOUBLE_EQ(estimate_of({7}).within, 0);
}

}  // namespace
}  // namespace fairgv::harness
