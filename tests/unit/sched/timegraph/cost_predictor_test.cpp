// The history that predicts what commands cost: TimeGraph, section 5.3.
#include "sched/policies/timegraph/cost_predictor.hpp"

#include <gtest/gtest.h>

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

/// Predicts a command and runs it, without or with a switch before it. Returns the prediction.
CostPredictor::Prediction run(CostPredictor& history, const CommandShape& shape, Duration actual,
                              bool switched = false) {
  const auto prediction = history.predict(shape, switched);
  history.completed(shape, prediction, actual, switched);
  return prediction;
}

TEST(CostPredictor, KnowsNothingAtFirst) {
  CostPredictor history(100, 50us);
  const auto prediction = history.predict({1, 1}, true);
  EXPECT_FALSE(prediction.hit);
  EXPECT_EQ(prediction.cost, 0ns);
}

TEST(CostPredictor, AHitIsPredictedToCostTheAverage) {
  CostPredictor history;
  run(history, {1, 64}, 100us);
  run(history, {1, 64}, 200us);
  const auto prediction = run(history, {1, 64}, 600us);
  EXPECT_TRUE(prediction.hit);
  EXPECT_EQ(prediction.cost, 150us);
  EXPECT_EQ(history.predict({1, 64}, false).cost, 300us);
}

TEST(CostPredictor, AMissIsPredictedToCostAsMuchAsTheWorstRecord) {
  CostPredictor history;
  run(history, {1, 1}, 100us);
  run(history, {2, 1}, 900us);
  run(history, {3, 1}, 300us);
  const auto prediction = history.predict({4, 1}, false);
  EXPECT_FALSE(prediction.hit);
  EXPECT_EQ(prediction.cost, 900us);
}

TEST(CostPredictor, KindAndSizeBothMakeTheShape) {
  CostPredictor history;
  run(history, {1, 1}, 100us);
  EXPECT_FALSE(history.predict({1, 2}, false).hit);
  EXPECT_FALSE(history.predict({2, 1}, false).hit);
}

TEST(CostPredictor, TheLeastRecentlyUsedRecordGoesFirst) {
  CostPredictor history(2);
  run(history, {1, 0}, 100us);
  run(history, {2, 0}, 200us);
  run(history, {1, 0}, 100us);
  run(history, {3, 0}, 300us);
  EXPECT_EQ(history.size(), 2U);
  EXPECT_TRUE(history.predict({1, 0}, false).hit);
  EXPECT_TRUE(history.predict({3, 0}, false).hit);
  EXPECT_FALSE(history.predict({2, 0}, false).hit);
}

TEST(CostPredictor, HoldsAHundredRecordsByDefault) {
  CostPredictor history;
  for (std::uint64_t kind = 0; kind < 150; ++kind) run(history, {kind, 0}, 100us);
  EXPECT_EQ(history.size(), 100U);
  EXPECT_FALSE(history.predict({49, 0}, false).hit);
  EXPECT_TRUE(history.predict({50, 0}, false).hit);
}

TEST(CostPredictor, ASwitchLeavesTheAverageAndMovesTheImpact) {
  CostPredictor history(100, 5us);
  EXPECT_EQ(history.preemption_impact(), 5us);
  run(history, {1, 0}, 100us);
  EXPECT_EQ(run(history, {1, 0}, 130us, true).cost, 105us);
  EXPECT_EQ(history.preemption_impact(), 30us);
  EXPECT_EQ(run(history, {1, 0}, 150us, true).cost, 130us);
  EXPECT_EQ(history.preemption_impact(), 40us);
  EXPECT_EQ(history.predict({1, 0}, false).cost, 100us);
  EXPECT_EQ(history.predict({1, 0}, true).cost, 140us);
}

TEST(CostPredictor, AMissAfterASwitchMakesARecord) {
  CostPredictor history;
  run(history, {1, 0}, 100us, true);
  EXPECT_TRUE(history.predict({1, 0}, false).hit);
  EXPECT_EQ(history.preemption_impact(), 0us);
}

TEST(CostPredictor, TheFlagOfThePredictionDecides) {
  CostPredictor history;
  const auto first = history.predict({1, 0}, false);
  const auto second = history.predict({1, 0}, false);  // in flight at the same time: two misses
  history.completed({1, 0}, first, 100us, false);
  history.completed({1, 0}, second, 300us, false);
  EXPECT_EQ(history.size(), 1U);
  EXPECT_EQ(history.predict({1, 0}, false).cost, 300us);
}

TEST(CostPredictor, AHitWhoseRecordHasGoneMakesItAnew) {
  CostPredictor history(1);
  run(history, {1, 0}, 100us);
  const auto hit = history.predict({1, 0}, false);
  run(history, {2, 0}, 200us);
  history.completed({1, 0}, hit, 400us, false);
  EXPECT_EQ(history.predict({1, 0}, false).cost, 400us);
}

}  // namespace
}  // namespace fairgv::sched
