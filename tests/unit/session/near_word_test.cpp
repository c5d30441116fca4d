// Guesses at the intended word for a mistyped one.
#include <gtest/gtest.h>

#include "runtime/base/near_word.hpp"

namespace fairgv::session {
namespace {

const std::vector<std::string> kWords{"weight", "max_weight", "memory", "ps", "top", "slice_ms"};

TEST(NearWord, IsTheOneWithTheFewestLettersToChange) {
  EXPECT_EQ(near_word("wieght", kWords), "weight");
  EXPECT_EQ(near_word("memroy", kWords), "memory");
  EXPECT_EQ(near_word("weights", kWords), "weight");
  EXPECT_EQ(near_word("tpo", kWords), "top") << "two letters that changed places are one mistake";
}

TEST(NearWord, IsALongerWordThatBeginsSo) {
  EXPECT_EQ(near_word("slice", kWords), "slice_ms");
  EXPECT_EQ(near_word("mem", kWords), "memory");
}

TEST(NearWord, IsNoneWhereNothingIsNear) {
  EXPECT_EQ(near_word("speed", kWords), "");
  EXPECT_EQ(near_word("x", kWords), "");
  EXPECT_EQ(near_word("", kWords), "");
  EXPECT_EQ(near_word("weight", {}), "");
}

TEST(NearWord, IsAskedForInAFewWords) {
  EXPECT_EQ(did_you_mean("wieght", kWords), "did you mean 'weight'? ");
  EXPECT_EQ(did_you_mean("speed", kWords), "");
}

TEST(NearWord, IsFoundInAListAsMessagesWriteIt) {
  EXPECT_EQ(guess_and_list("fiar", "fair, fifo, round-robin"),
            "did you mean 'fair'? there are fair, fifo, round-robin");
  EXPECT_EQ(guess_and_list("round", "fair, fifo, round-robin"),
            "did you mean 'round-robin'? there are fair, fifo, round-robin");
  EXPECT_EQ(guess_and_list("best", "fair"), "there are fair");
}

}  // namespace
}  // namespace fairgv::session
