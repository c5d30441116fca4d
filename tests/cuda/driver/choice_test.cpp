// Which body of a conditional node runs, by the words of "CUgraphConditionalNodeType".
#include "cuda-shim/api/graph/conditional/choice.hpp"

#include <gtest/gtest.h>

namespace {

using fairgv::cuda::chosen_body;
using fairgv::cuda::is_body_count;
using Body = std::optional<std::size_t>;

TEST(GraphChoice, AnIfHasABodyForEverythingButZeroAndPerhapsOneForZero) {
  for (const std::uint32_t value : {1U, 2U, 0x80000000U, ~0U}) {
    EXPECT_EQ(Body(0), chosen_body(CU_GRAPH_COND_TYPE_IF, 1, value));
    EXPECT_EQ(Body(0), chosen_body(CU_GRAPH_COND_TYPE_IF, 2, value));
  }
  EXPECT_EQ(Body(), chosen_body(CU_GRAPH_COND_TYPE_IF, 1, 0));
  EXPECT_EQ(Body(1), chosen_body(CU_GRAPH_COND_TYPE_IF, 2, 0));
}

TEST(GraphChoice, ALoopGoesOnUntilItsValueIsZero) {
  for (const std::uint32_t value : {1U, 2U, ~0U})
    EXPECT_EQ(Body(0), chosen_body(CU_GRAPH_COND_TYPE_WHILE, 1, value));
  EXPECT_EQ(Body(), chosen_body(CU_GRAPH_COND_TYPE_WHILE, 1, 0));
}

TEST(GraphChoice, ASwitchRunsTheBodyOfThatNumber) {
  for (std::uint32_t bodies = 1; bodies < 20; ++bodies) {
    for (std::uint32_t value = 0; value < 25; ++value)
      EXPECT_EQ(value < bodies ? Body(value) : Body(), chosen_body(CU_GRAPH_COND_TYPE_SWITCH, bodies, value));
    EXPECT_EQ(Body(), chosen_body(CU_GRAPH_COND_TYPE_SWITCH, bodies, ~0U));
  }
}

TEST(GraphChoice, EachKindHasItsNumbersOfBodies) {
  for (std::size_t bodies = 0; bodies < 5; ++bodies) {
    EXPECT_EQ(bodies == 1 || bodies == 2, is_body_count(CU_GRAPH_COND_TYPE_IF, bodies));
    EXPECT_EQ(bodies == 1, is_body_count(CU_GRAPH_COND_TYPE_WHILE, bodies));
    EXPECT_EQ(bodies > 0, is_body_count(CU_GRAPH_COND_TYPE_SWITCH, bodies));
    EXPECT_FALSE(is_body_count(static_cast<CUgraphConditionalNodeType>(3), bodies));
  }
}

}  // namespace
