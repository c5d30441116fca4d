// TimeGraph's evaluation in the simulator: every effect that the paper reports has the paper's sign and
// order.
#include "sched/simulator/figures/timegraph.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "tests/harness/sanitized.hpp"

namespace fairgv::sched {
namespace {

void print_row(const FigureRow& row) {
  std::cout << row.figure << " | " << row.effect << " | " << row.published << " | " << row.ours << '\n';
}

TEST(TimeGraphFigures, EveryEffectHasThePapersSignAndOrder) {
  std::set<std::string> figures;
  for (std::uint64_t seed = 1; seed <= (harness::kSanitized ? 1 : 2); ++seed) {
    for (const FigureRow& row : timegraph_figures({.seed = seed})) {
      if (seed == 1) print_row(row);
      figures.insert(row.figure);
      EXPECT_TRUE(row.same) << row.figure << ", " << row.effect << ": published " << row.published
                            << ", ours " << row.ours << ", seed " << seed;
    }
  }
  for (int figure = 7; figure <= 16; ++figure) {
    EXPECT_EQ(figures.count("TimeGraph " + std::to_string(figure)), 1U) << figure;
  }
}

}  // namespace
}  // namespace fairgv::sched
