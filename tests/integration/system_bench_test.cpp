// Experiments run to their end and write what they promise; what they measure is for people to judge.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/harness/tenancy.hpp"

namespace fairgv::integration {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Experiments, FairnessOfTwoPoliciesIsTabledAndDrawn) {
  if (!std::filesystem::exists(harness::beside("fairgv-bench-fair3"))) {
    GTEST_SKIP() << "this build has no benchmarks";
  }
  const auto folder = std::filesystem::path(::testing::TempDir()) / "fairgv-experiments";
  std::filesystem::create_directories(folder);
  const auto finished = harness::run(
      {{harness::beside("fairgv"), "bench", "fair3", "--quick", "--policies", "fair,fifo", "--programs",
        "matrixMul", "--csv", folder / "fair3.csv", "--figure", folder / "fair3.svg"},
       {}});
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 0);
  const auto table = lines_of(folder / "fair3.csv");
  ASSERT_EQ(table.size(), 4U);
  EXPECT_TRUE(table[0].starts_with("# ")) << "no machine: " << table[0];
  EXPECT_EQ(table[1], "policy,program,min_max_ratio,overhead");
  EXPECT_TRUE(table[2].starts_with("fair,matrixMul,0.")) << table[2];
  EXPECT_TRUE(table[3].starts_with("fifo,matrixMul,0.")) << table[3];
  const auto figure = lines_of(folder / "fair3.svg");
  ASSERT_FALSE(figure.empty());
  EXPECT_TRUE(figure.front().starts_with("<?xml")) << figure.front();
  std::filesystem::remove_all(folder);
}

TEST(Experiments, APolicyThatDoesNotExistIsNotMeasured) {
  if (!std::filesystem::exists(harness::beside("fairgv-bench-fair3"))) {
    GTEST_SKIP() << "this build has no benchmarks";
  }
  const auto finished = harness::run(
      {{harness::beside("fairgv"), "bench", "share", "--policy", "lottery", "--seconds", "1"}, {}});
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 1);
}

}  // namespace
}  // namespace fairgv::integration
