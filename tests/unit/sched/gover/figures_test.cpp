// gOver's evaluation, as rebuilt in the simulator: every published effect has the same sign here.
#include "sched/simulator/figures/gover.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "tests/harness/sanitized.hpp"

namespace fairgv::sched {
namespace {

TEST(GoverFigures, EveryPublishedEffectHasTheSameSign) {
  // Means over few draws are a matter of luck, so the draws are always the same.
  constexpr std::uint64_t kSeed = 1;
  const std::vector<FigureRow> rows = gover_figures(kSeed, harness::kSanitized ? 2 : 6);
  for (const FigureRow& row : rows) {
    EXPECT_TRUE(row.same) << row.figure << ": " << row.effect << ": " << row.ours;
    std::cout << row.figure << " | " << row.effect << " | " << row.published << " | " << row.ours << '\n';
  }
  EXPECT_EQ(rows.size(), 17U);
}

// One draw of programs is a matter of luck: with seed 5, two glmark2 had light scenes together for a minute,
// and a third was sold its half.
TEST(GoverFigures, ATenantsEffectOnTheNumberOfTenantsDoesNotHangOnTheSeed) {
  for (std::uint64_t seed = 1; seed <= (harness::kSanitized ? 1 : 8); ++seed) {
    const FigureRow row = gover_tenants(seed);
    EXPECT_TRUE(row.same) << "seed " << seed << ": " << row.ours;
  }
}

}  // namespace
}  // namespace fairgv::sched
