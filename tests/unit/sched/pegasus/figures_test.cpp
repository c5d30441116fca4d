// The figures of Pegasus and FairGV in the simulator: every effect has the published sign and order.
#include <gtest/gtest.h>

#include <cstdio>

#include "sched/simulator/figures/fairgv.hpp"
#include "sched/simulator/figures/pegasus.hpp"
#include "tests/harness/sanitized.hpp"

namespace fairgv::sched {
namespace {

constexpr double kTime = harness::kSanitized ? 0.25 : 1;

void expect_same(const std::vector<FigureRow>& rows) {
  for (const FigureRow& row : rows) {
    std::printf("%-10s %-75s %-50s %s\n", row.figure.c_str(), row.effect.c_str(), row.published.c_str(),
                row.ours.c_str());
    EXPECT_TRUE(row.same) << row.figure << ", " << row.effect << ": " << row.ours << ", published "
                          << row.published;
  }
}

TEST(PublishedFigures, PegasusEffectsHaveThePublishedSignAndOrder) {
  const auto rows = pegasus_figures({.seed = 1, .time = kTime});
  EXPECT_GT(rows.size(), 30U);
  expect_same(rows);
}

TEST(PublishedFigures, FairgvEffectsHaveThePublishedSignAndOrder) {
  const auto rows = fairgv_figures({.seed = 1, .time = kTime});
  EXPECT_GT(rows.size(), 30U);
  expect_same(rows);
}

}  // namespace
}  // namespace fairgv::sched
