// A worker's output as lines of the log: printable, bounded, and no more than the budget.
#include <gtest/gtest.h>

#include <random>

#include "runtime/daemon/worker/output_lines.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

constexpr OutputLines::Time kStart{};

TEST(PlainLine, HasNothingThatATerminalOrALogObeys) {
  EXPECT_EQ(plain_line("plain text, \xc3\xbc and \xe2\x82\xac"), "plain text, \xc3\xbc and \xe2\x82\xac");
  EXPECT_EQ(plain_line("\x1b[31mred\x1b[0m"), "?[31mred?[0m");
  EXPECT_EQ(plain_line("tab\there\rthere\r"), "tab?here?there");
  EXPECT_EQ(plain_line(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(plain_line("C1: \xc2\x9b"
                       "31m"),
            "C1: ?31m");
  EXPECT_EQ(plain_line("not UTF-8: \xff \xc3 \xe2\x82"), "not UTF-8: ? ? ??");
  EXPECT_EQ(plain_line("too long a form: \xc0\xaf \xe0\x80\xaf"), "too long a form: ?? ???");
  EXPECT_EQ(plain_line("half a pair: \xed\xa0\x80"), "half a pair: ???");
  EXPECT_EQ(plain_line("right to left: \xe2\x80\xae, next line: \xe2\x80\xa8"),
            "right to left: ?, next line: ?");
}

TEST(PlainLine, BeginsWithNoPriority) {
  EXPECT_EQ(plain_line("<0>everybody"), "everybody");
  EXPECT_EQ(plain_line("<0><6>everybody"), "everybody");
  EXPECT_EQ(plain_line("<191>x"), "x");
  EXPECT_EQ(plain_line("<a>x <0>y"), "<a>x <0>y");
  EXPECT_EQ(plain_line("<>x"), "<>x");
  EXPECT_EQ(plain_line("<12345>x"), "<12345>x");
}

TEST(OutputLines, ComeWholeHoweverTheyArrive) {
  OutputLines output;
  EXPECT_EQ(output.take("first\nsec", kStart), Lines{"first"});
  EXPECT_EQ(output.take("o", kStart), Lines{});
  EXPECT_EQ(output.take("nd\n\n \r\nthird\nfourth", kStart), (Lines{"second", "third"}));
  EXPECT_EQ(output.finish(kStart), Lines{"fourth"});
  EXPECT_EQ(output.finish(kStart), Lines{});
}

TEST(OutputLines, AreCutWhereTheyAreTooLong) {
  OutputLines output;
  const std::string longest(OutputLines::kLongestLine, 'x');
  EXPECT_EQ(output.take(longest + "\n", kStart), Lines{longest});
  EXPECT_EQ(output.take(longest + "y\nz\n", kStart), (Lines{longest + " [cut]", "z"}));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(output.take(longest, kStart), Lines{});
  EXPECT_EQ(output.take("\n", kStart), Lines{longest + " [cut]"});
}

TEST(OutputLines, BeyondTheBudgetAreCountedAndTheLastWordsComeAtTheEnd) {
  OutputLines output;
  std::string flood;
  for (int i = 0; i < 1'000; ++i) flood += "line " + std::to_string(i) + "\n";
  const Lines first = output.take(flood, kStart);
  ASSERT_EQ(first.size(), static_cast<std::size_t>(OutputLines::kBudget.burst));
  EXPECT_EQ(first.back(), "line 29");
  EXPECT_EQ(output.finish(kStart),
            (Lines{"(965 lines left out)", "line 995", "line 996", "line 997", "line 998", "line 999"}));
}

TEST(OutputLines, ComeAgainWhenTheBudgetHasGrown) {
  OutputLines output;
  std::string flood;
  for (int i = 0; i < 100; ++i) flood += "flood\n";
  EXPECT_EQ(output.take(flood, kStart).size(), static_cast<std::size_t>(OutputLines::kBudget.burst));
  EXPECT_EQ(output.take("late\n", kStart), Lines{});
  EXPECT_EQ(output.take("later\n", kStart + 1s), (Lines{"(71 lines left out)", "later"}));
  EXPECT_EQ(output.take("more\n", kStart + 1s), Lines{"more"});
  EXPECT_EQ(output.take("too much\n", kStart + 1s), Lines{});
  EXPECT_EQ(output.finish(kStart + 1s), Lines{"too much"});
}

/// Any bytes in any pieces: every line is plain and bounded, no line is lost uncounted, and pieces do not
/// matter as long as there is budget.
TEST(OutputLines, OfAnyBytesArePlainBoundedAndCounted) {
  std::mt19937_64 random(harness::printed_seed());
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  for (int round = 0; round < 300; ++round) {
    constexpr std::string_view kParts[] = {"\n",           "\n",    "<0>",  "\x1b[2J", "\xc2\x9b",
                                           "\xe2\x80\xa8", "word ", "\xff", "\r\n"};
    std::string text;
    for (std::uint64_t parts = below(400); parts > 0; --parts) {
      if (below(50) == 0) {
        text.append(below(3 * OutputLines::kLongestLine), 'x');
      } else if (below(4) == 0) {
        text += static_cast<char>(below(256));
      } else {
        text += kParts[below(std::size(kParts))];
      }
    }
    OutputLines output;
    Lines lines;
    OutputLines::Time now = kStart;
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view piece = rest.substr(0, 1 + below(rest.size()));
      for (std::string& line : output.take(piece, now)) lines.push_back(std::move(line));
      rest.remove_prefix(piece.size());
      now += std::chrono::milliseconds(below(100));
    }
    for (std::string& line : output.finish(now)) lines.push_back(std::move(line));
    const double seconds = std::chrono::duration<double>(now - kStart).count();
    // Each line that tells how many were left out comes with a line that was not left out.
    const double most = 2 * (OutputLines::kBudget.burst + seconds * OutputLines::kBudget.per_second +
                             static_cast<double>(OutputLines::kLastWords) + 2);
    EXPECT_LE(static_cast<double>(lines.size()), most);
    for (const std::string& line : lines) {
      EXPECT_LE(line.size(), OutputLines::kLongestLine + OutputLines::kCut.size());
      EXPECT_EQ(plain_line(line.substr(0, OutputLines::kLongestLine)),
                line.substr(0, OutputLines::kLongestLine));
      EXPECT_EQ(line.find_first_of("\n\r\x1b"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace fairgv::daemon
