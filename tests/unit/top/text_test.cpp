// Numbers and bars of `fairgv top` in few columns.
#include <gtest/gtest.h>

#include <random>

#include "tests/harness/seed.hpp"
#include "tools/fairgv/top/text.hpp"

namespace fairgv::tools::top {
namespace {

TEST(TopText, FitsPercentsIntoFiveColumns) {
  EXPECT_EQ(percent(0), " 0.0%");
  EXPECT_EQ(percent(0.3333), "33.3%");
  EXPECT_EQ(percent(0.99949), "99.9%");
  EXPECT_EQ(percent(0.9996), " 100%");
  EXPECT_EQ(percent(1), " 100%");
}

TEST(TopText, FitsTimesIntoFiveColumns) {
  EXPECT_EQ(short_time(0), "0us");
  EXPECT_EQ(short_time(850'400), "850us");
  EXPECT_EQ(short_time(999'600), "1.0ms");
  EXPECT_EQ(short_time(9'960'000), "10ms");
  EXPECT_EQ(short_time(999'400'000), "999ms");
  EXPECT_EQ(short_time(1'500'000'000), "1.5s");
  EXPECT_EQ(short_time(125'000'000'000), "125s");
  for (std::uint64_t ns = 1; ns < 1'000'000'000'000'000; ns = ns * 3 + 1)
    EXPECT_LE(short_time(ns).size(), 5u) << ns;
}

TEST(TopText, FitsBytesIntoFourColumns) {
  EXPECT_EQ(short_bytes(0), "0");
  EXPECT_EQ(short_bytes(512), "512B");
  EXPECT_EQ(short_bytes(1536), "1.5K");
  EXPECT_EQ(short_bytes(std::uint64_t{512} << 20), "512M");
  EXPECT_EQ(short_bytes(std::uint64_t{1000} << 20), "1.0G");
  EXPECT_EQ(short_bytes(std::uint64_t{15} << 30), "15G");
  for (int shift = 0; shift < 64; ++shift) {
    EXPECT_LE(short_bytes((std::uint64_t{1} << shift) - 1).size(), 4u) << shift;
  }
}

TEST(TopText, SaysHowLongADaemonHasLived) {
  EXPECT_EQ(long_time(59.9), "0:00:59");
  EXPECT_EQ(long_time(3725), "1:02:05");
  EXPECT_EQ(long_time(86'400 * 3 + 4 * 3600 + 60 * 5), "3d 04:05");
}

TEST(TopText, MakesTextFromOutsideAsciiAndKeepsItsLength) {
  EXPECT_EQ(plain_ascii("\xC3\xA9GPU\xE2\x82\xAC \x1b[2J"), "?GPU? ?[2J");
}

TEST(TopText, PadsAndCutsToTheWidth) {
  EXPECT_EQ(pad_right("ab", 4), "ab  ");
  EXPECT_EQ(pad_left("ab", 4), "  ab");
  EXPECT_EQ(pad_right("abcdef", 4), "abc~");
  EXPECT_EQ(pad_left("abcdef", 4), "abc~");
  EXPECT_EQ(pad_right("abc", 0), "");
}

TEST(TopBar, MarksWhatIsDueAndFillsWhatIsUsed) {
  EXPECT_EQ(text_of(bar(0.25, {0.5}, 8, Glyphs::ascii)), "##..|...");
  EXPECT_EQ(text_of(bar(0.5, {0.5}, 8, Glyphs::ascii)), "####|...");
  EXPECT_EQ(text_of(bar(1, {1}, 8, Glyphs::ascii)), "########");
  EXPECT_EQ(text_of(bar(0, {0}, 8, Glyphs::ascii)), "........");
  EXPECT_EQ(text_of(bar(0.25, {0.5}, 8, Glyphs::blocks)), "██··│···");
  EXPECT_EQ(text_of(bar(3.0 / 16, {0.5}, 8, Glyphs::eighths)), "█▌··│···");
}

TEST(TopBar, MarksGuaranteeAndCeilingWhereTheyAreInForce) {
  EXPECT_EQ(text_of(bar(0.25, {0.5, 0.25, 0.75}, 8, Glyphs::ascii)), "##[.|.].");
  EXPECT_EQ(text_of(bar(1, {0.5, 0.25, 0.75}, 8, Glyphs::blocks)), "██[█│█]█");
  EXPECT_EQ(text_of(bar(0, {0.5, 0, 1}, 8, Glyphs::ascii)), "....|...");
  EXPECT_EQ(text_of(bar(0, {0.5, 0.5, 0.5}, 8, Glyphs::ascii)), "....|...") << "what is due goes first";
  EXPECT_EQ(text_of(bar(0, {0.75, 0.5, 0.5}, 8, Glyphs::ascii)), "....].|.");
}

TEST(TopBar, ShowsWhatIsUsedBeyondTheMarkAsExcess) {
  EXPECT_EQ(bar(0.75, {0.5}, 8, Glyphs::ascii),
            (Line{{"####", Style::used}, {"|", Style::entitled}, {"#", Style::excess}, {"..", Style::dim}}));
}

TEST(TopBar, IsAsWideAsItShouldBeWhateverTheShares) {
  std::mt19937_64 random(harness::printed_seed());
  std::uniform_real_distribution<double> share(-0.5, 1.5);
  for (int i = 0; i < 2'000; ++i) {
    const std::size_t width = random() % 60;
    for (const Glyphs glyphs : {Glyphs::ascii, Glyphs::blocks, Glyphs::eighths}) {
      const double used = share(random), due = share(random), min = share(random), max = share(random);
      EXPECT_EQ(width_of(bar(used, {due, min, max}, width, glyphs)), width)
          << used << ' ' << due << ' ' << min << ' ' << max;
    }
  }
  EXPECT_EQ(width_of(bar(0.0 / 0.0, {0.0 / 0.0}, 8, Glyphs::eighths)), 8u);
}

}  // namespace
}  // namespace fairgv::tools::top
