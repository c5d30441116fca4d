// The text of `fairgv bench share` on its two figures: whether they are good, and which way is better.
#include "tests/bench/support/text/share_view.hpp"

#include <gtest/gtest.h>

namespace fairgv::bench {
namespace {

std::string verdict(double ratio, double overhead) {
  Fairness fairness;
  fairness.min_max_ratio = ratio;
  fairness.overhead = overhead;
  std::string text;
  for (const std::string& line : verdict_lines(fairness)) text += line + '\n';
  return text;
}

TEST(ShareVerdict, AnOverheadBelowOneIsGood) {
  const std::string text = verdict(0.99, 0.932);
  EXPECT_NE(text.find("0.932   good. Lower is better; 1: sharing costs nothing"), std::string::npos) << text;
}

TEST(ShareVerdict, GradesBothFigures) {
  EXPECT_NE(verdict(0.98, 1.02).find("1.020   good."), std::string::npos);
  EXPECT_NE(verdict(0.98, 1.1).find("1.100   fair."), std::string::npos);
  EXPECT_NE(verdict(0.98, 1.5).find("1.500   poor."), std::string::npos);
  EXPECT_NE(verdict(0.98, 1).find("0.980   good. Higher is better"), std::string::npos);
  EXPECT_NE(verdict(0.95, 1).find("0.950   fair."), std::string::npos);
  EXPECT_NE(verdict(0.5, 1).find("0.500   poor."), std::string::npos);
}

TEST(ShareVerdict, AnOverheadThatCannotBeTrueIsNotCalledGood) {
  EXPECT_NE(verdict(0.98, 0.5).find("0.500   too low to be true."), std::string::npos);
}

TEST(ShareVerdict, FiguresThatMayNotBeFairgvsSaySo) {
  const auto doubts = [](double ratio, double overhead) {
    return verdict(ratio, overhead).find("Was the machine busy with something else?") != std::string::npos;
  };
  EXPECT_FALSE(doubts(0.98, 1.02));
  EXPECT_TRUE(doubts(0.5, 1));
  EXPECT_TRUE(doubts(0.98, 1.5));
  EXPECT_TRUE(doubts(0.98, 0.5));
}

TEST(ShareVerdict, ThreeTenantsWithTheirSharesHaveARatioOfOne) {
  std::vector<Tenant> tenants(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    tenants[i].weight = i + 1;
    tenants[i].alone = 6;
    tenants[i].together = i + 1;
  }
  const Fairness fairness = fairness_of(tenants);
  EXPECT_DOUBLE_EQ(fairness.min_max_ratio, 1);
  EXPECT_DOUBLE_EQ(fairness.overhead, 1);
}

}  // namespace
}  // namespace fairgv::bench
