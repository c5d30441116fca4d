// FAIRGV_SLICE: valid and invalid texts, and that text and wish are two forms of the same.
#include "runtime/session/wish/slicing_wish.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace fairgv::session {
namespace {

using Kind = SlicingWish::Kind;

SlicingWish read(const std::string& text) {
  const auto wish = parse_slicing_wish(text, "FAIRGV_SLICE");
  EXPECT_TRUE(wish) << text;
  return wish ? wish.value() : SlicingWish{};
}

TEST(SlicingWish, IsReadFromItsText) {
  EXPECT_EQ(read(""), SlicingWish{});
  EXPECT_EQ(read("off"), SlicingWish{Kind::off});
  EXPECT_EQ(read("always"), SlicingWish{Kind::always});
  EXPECT_EQ(read("random:0"), (SlicingWish{Kind::random, 0}));
  EXPECT_EQ(read("random:18446744073709551615"), (SlicingWish{Kind::random, UINT64_MAX}));
  EXPECT_EQ(read("blocks:1"), (SlicingWish{Kind::blocks, 1}));
  EXPECT_EQ(read("blocks:1500"), (SlicingWish{Kind::blocks, 1500}));
}

TEST(SlicingWish, AnythingElseIsRefusedInOneLineThatNamesItsSource) {
  for (const char* bad :
       {"on",         "OFF",       " off",       "off ",       "off:1",
        "always:",    "random",    "random:",    "random:-1",  "random:+1",
        "random: 1",  "random:1x", "random:0x1", "random:1.5", "random:18446744073709551616",
        "blocks",     "blocks:",   "blocks:0",   "blocks:-1",  "blocks:1,2",
        "randomly:1", "1500"}) {
    const auto wish = parse_slicing_wish(bad, "FAIRGV_SLICE");
    ASSERT_FALSE(wish) << bad;
    EXPECT_EQ(wish.error().message,
              std::string("FAIRGV_SLICE is '") + bad +
                  "': it can be off, always, random:SEED or blocks:N with whole numbers, N at least 1");
  }
  const auto rude = parse_slicing_wish("\x1b[2J\n" + std::string(10'000, 'x'), "FAIRGV_SLICE");
  ASSERT_FALSE(rude);
  EXPECT_EQ(rude.error().message.find_first_of("\x1b\n"), std::string::npos);
  EXPECT_LT(rude.error().message.size(), 300U);
}

TEST(SlicingWish, TextsAreReadAsTheWishThatWroteThem) {
  std::vector<SlicingWish> wishes{{}, {Kind::off}, {Kind::always}};
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) {
    wishes.push_back({Kind::random, random() >> random() % 64});
    wishes.push_back({Kind::blocks, (random() >> random() % 64) | 1});
  }
  for (const SlicingWish& wish : wishes) EXPECT_EQ(read(to_text(wish)), wish) << to_text(wish);
}

}  // namespace
}  // namespace fairgv::session
