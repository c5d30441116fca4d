#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/harness/executions.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::harness {
namespace {

using std::chrono::nanoseconds;

TEST(Executions, ShortGapsBelongToTheSpanAndLongOnesDoNot) {
  const std::vector<Execution> executions{{100, 200}, {249, 300}, {350, 400}};
  EXPECT_EQ(summed(executions), nanoseconds(201));
  EXPECT_EQ(spanned(executions, nanoseconds(50)), nanoseconds(100 + 49 + 51 + 50));
  EXPECT_EQ(spanned(executions, nanoseconds(51)), nanoseconds(300));
  EXPECT_EQ(spanned(executions, nanoseconds(0)), nanoseconds(201));
}

TEST(Executions, TimeWithTwoKernelsAtOnceCountsOnceInTheSpan) {
  EXPECT_EQ(spanned({{0, 100}, {20, 60}, {50, 130}}, nanoseconds(0)), nanoseconds(130));
  EXPECT_EQ(spanned({{0, 100}, {20, 60}, {70, 80}}, nanoseconds(5)), nanoseconds(100));
}

TEST(Executions, NoneTakeNoTime) {
  EXPECT_EQ(summed({}), nanoseconds(0));
  EXPECT_EQ(spanned({}, nanoseconds(50)), nanoseconds(0));
  EXPECT_EQ(spanned({{7, 7}}, nanoseconds(50)), nanoseconds(0));
}

TEST(Executions, TheSpanLiesBetweenTheSumAndTheWholeAndGrowsWithTheGap) {
  const std::mt19937::result_type seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<Execution> executions;
    std::uint64_t now = random() % 1'000;
    std::uint64_t longest = 0;
    const auto count = 1 + random() % 30;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t gap = random() % 100;
      if (i > 0) longest = std::max(longest, gap);
      executions.push_back({now + gap, now + gap + random() % 100});
      now = executions.back().end;
    }
    const nanoseconds whole(now - executions.front().start);
    std::shuffle(executions.begin(), executions.end(), random);
    EXPECT_EQ(spanned(executions, nanoseconds(0)), summed(executions));
    EXPECT_EQ(spanned(executions, nanoseconds(longest + 1)), whole);
    nanoseconds before(0);
    for (nanoseconds gap(0); gap <= nanoseconds(100); gap += nanoseconds(10)) {
      const nanoseconds span = spanned(executions, gap);
      EXPECT_GE(span, before);
      EXPECT_LE(span, whole);
      before = span;
    }
  }
}

TEST(Executions, ThePartInUseIsThatOfAllBetweenTheFirstAndTheLast) {
  EXPECT_EQ(part_in_use({}), 0);
  EXPECT_EQ(part_in_use({{100, 200}}), 1);
  EXPECT_DOUBLE_EQ(part_in_use({{150, 200}, {100, 120}}), 0.7);
  EXPECT_DOUBLE_EQ(part_in_use({{100, 160}, {120, 200}}), 1) << "at once";
  EXPECT_EQ(part_in_use({{100, 100}}), 0) << "no time";
}

TEST(Executions, AFileIsReadWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const auto file = folder / "executions";
  const auto read = [&](const char* text) {
    std::ofstream(file) << text;
    return read_executions(file);
  };
  const auto good = read("5 9\n12 12\n");
  ASSERT_TRUE(good);
  ASSERT_EQ(good->size(), 2U);
  EXPECT_EQ(good.value()[1].start, 12U);
  EXPECT_TRUE(read(""));
  EXPECT_FALSE(read("5 9\n12\n12 x\n"));
  EXPECT_FALSE(read("9 5\n"));
  EXPECT_FALSE(read("5 9\n12\n"));
  std::filesystem::remove(file);
  EXPECT_FALSE(read_executions(file));
}

}  // namespace
}  // namespace fairgv::harness
