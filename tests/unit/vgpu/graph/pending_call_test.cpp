// The calls of commands that have not ended: their bytes stay what they were, in few chunks of memory.
#include "runtime/vgpu/graph/pending_call.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace fairgv::vgpu {
namespace {

struct CallsOfCommands : ::testing::Test {
  PendingCall keep(std::uint64_t number, std::size_t bytes = 100) {
    const std::vector<std::byte> call(bytes, std::byte(number % 251));
    return calls.keep(number, static_cast<wire::Opcode>(number % 1'000), call);
  }
  static bool is(const PendingCall& call, std::uint64_t number, std::size_t bytes = 100) {
    if (call.number() != number || call.opcode() != number % 1'000 || call.bytes().size() != bytes)
      return false;
    for (const std::byte byte : call.bytes()) {
      if (byte != std::byte(number % 251)) return false;
    }
    return true;
  }

  PendingCalls calls;
};

TEST_F(CallsOfCommands, LieInFewChunks) {
  constexpr std::size_t kUnderWay = 100;
  std::deque<PendingCall> under_way;
  for (std::uint64_t number = 1; number < 20'000; ++number) {
    under_way.push_back(keep(number));
    if (under_way.size() <= kUnderWay) continue;
    ASSERT_TRUE(is(under_way.front(), number - kUnderWay));
    under_way.pop_front();
    ASSERT_LE(calls.chunks(), 2U) << number;
  }
}

TEST_F(CallsOfCommands, StayWhileOthersComeAndGo) {
  const PendingCall first = keep(1);
  std::vector<PendingCall> each_hundredth;
  for (std::uint64_t number = 2; number < 20'000; ++number) {
    PendingCall call = keep(number);
    if (number % 100 == 0) each_hundredth.push_back(call);
  }
  EXPECT_TRUE(is(first, 1));
  for (std::size_t i = 0; i < each_hundredth.size(); ++i) EXPECT_TRUE(is(each_hundredth[i], (i + 1) * 100));
  each_hundredth.clear();
  EXPECT_LE(calls.chunks(), 3U) << "that of the first, and two";
}

TEST_F(CallsOfCommands, ThatAreLongOrTooManyForTheChunksLieByThemselves) {
  std::vector<PendingCall> all;
  for (std::uint64_t number = 1; number <= 10'000; ++number) all.push_back(keep(number, 1'000));
  EXPECT_EQ(calls.chunks(), PendingCalls::kMostChunks);
  all.push_back(keep(10'001, PendingCalls::kChunkBytes));
  for (std::size_t i = 0; i < 10'000; ++i) ASSERT_TRUE(is(all[i], i + 1, 1'000));
  EXPECT_TRUE(is(all.back(), 10'001, PendingCalls::kChunkBytes));
  all.clear();
  EXPECT_LE(calls.chunks(), 2U);
  EXPECT_TRUE(is(keep(7), 7));
}

}  // namespace
}  // namespace fairgv::vgpu
