// The machine code of jumps, as bytes and executed.
#include "cuda-shim/redirect/jump.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <vector>

namespace fairgv::redirect {
namespace {

using Code = std::vector<std::byte>;

Code code_of(std::initializer_list<int> bytes) {
  Code code;
  for (const int byte : bytes) code.push_back(static_cast<std::byte>(byte));
  return code;
}

Code repeated(std::size_t count, int byte) {
  return Code(count, static_cast<std::byte>(byte));
}

Code code_of(const Jump& jump) {
  return {jump.code().begin(), jump.code().end()};
}

constexpr std::uint64_t kHere = 0x5555'0000'1000;

TEST(RedirectJump, ReachesAnyAddressFromAFunctionWithRoom) {
  const auto jump = jump_to(0x7fff'1122'3344'5566, kHere, repeated(14, 0x90));
  ASSERT_TRUE(jump);
  EXPECT_EQ(jump->offset, 0U);
  EXPECT_EQ(code_of(*jump),
            code_of({0xff, 0x25, 0, 0, 0, 0, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xff, 0x7f}));
}

TEST(RedirectJump, LeavesEndbr64WhereItIs) {
  Code function = code_of({0xf3, 0x0f, 0x1e, 0xfa});
  function.resize(18);
  const auto jump = jump_to(0x7fff'1122'3344'5566, kHere, function);
  ASSERT_TRUE(jump);
  EXPECT_EQ(jump->offset, 4U);
  EXPECT_EQ(jump->size, 14U);
}

TEST(RedirectJump, IsShortInAShortFunctionIfTheTargetIsNear) {
  const auto forth = jump_to(kHere + 5 + 0x1234, kHere, repeated(5, 0x90));
  ASSERT_TRUE(forth);
  EXPECT_EQ(code_of(*forth), code_of({0xe9, 0x34, 0x12, 0, 0}));
  const auto back = jump_to(kHere - 1, kHere, repeated(13, 0x90));
  ASSERT_TRUE(back);
  EXPECT_EQ(code_of(*back), code_of({0xe9, 0xfa, 0xff, 0xff, 0xff}));
}

TEST(RedirectJump, ReachesExactlyAsFarAsThirtyTwoBitsSay) {
  constexpr std::uint64_t kEnd = kHere + 5;
  EXPECT_TRUE(jump_to(kEnd + 0x7fff'ffff, kHere, repeated(5, 0x90)));
  EXPECT_FALSE(jump_to(kEnd + 0x8000'0000, kHere, repeated(5, 0x90)));
  EXPECT_TRUE(jump_to(kEnd - 0x8000'0000, kHere, repeated(5, 0x90)));
  EXPECT_FALSE(jump_to(kEnd - 0x8000'0001, kHere, repeated(5, 0x90)));
}

TEST(RedirectJump, AFunctionThatIsTooShortGetsNone) {
  EXPECT_FALSE(jump_to(kHere + 64, kHere, repeated(4, 0x90)));
  EXPECT_FALSE(jump_to(kHere + 64, kHere, {}));
  EXPECT_FALSE(jump_to(kHere + 64, kHere, code_of({0xf3, 0x0f, 0x1e, 0xfa, 0xc3})));
  EXPECT_FALSE(jump_to(0x7fff'1122'3344'5566, kHere, repeated(13, 0x90)));
}

int answer_42(int add) {
  return 42 + add;
}

TEST(RedirectJump, GoesToTheTargetWithTheArgumentsOfTheCall) {
  constexpr std::size_t kSize = 4096;
  void* const page = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  for (const bool with_endbr64 : {false, true}) {
    ASSERT_EQ(::mprotect(page, kSize, PROT_READ | PROT_WRITE), 0);
    std::memset(page, 0xcc, kSize);
    if (with_endbr64) std::memcpy(page, code_of({0xf3, 0x0f, 0x1e, 0xfa}).data(), 4);
    const auto jump = jump_to(std::bit_cast<std::uintptr_t>(&answer_42), std::bit_cast<std::uintptr_t>(page),
                              {static_cast<const std::byte*>(page), 64});
    ASSERT_TRUE(jump);
    std::memcpy(static_cast<std::byte*>(page) + jump->offset, jump->bytes.data(), jump->size);
    ASSERT_EQ(::mprotect(page, kSize, PROT_READ | PROT_EXEC), 0);
    EXPECT_EQ(reinterpret_cast<int (*)(int)>(page)(7), 49);
  }
  ::munmap(page, kSize);
}

TEST(RedirectPadding, IsWhatAssemblersAndLinkersPutBetweenFunctions) {
  // What GNU as fills 1 to 11 bytes with, and int3, as lld does.
  const std::vector<Code> fillings{
      code_of({0x90}),
      code_of({0x66, 0x90}),
      code_of({0x0f, 0x1f, 0x00}),
      code_of({0x0f, 0x1f, 0x40, 0x00}),
      code_of({0x0f, 0x1f, 0x44, 0x00, 0x00}),
      code_of({0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}),
      code_of({0x0f, 0x1f, 0x80, 0, 0, 0, 0}),
      code_of({0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0}),
      code_of({0x66, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0}),
      code_of({0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0}),
      code_of({0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0}),
      code_of({0xcc, 0xcc, 0xcc}),
  };
  Code all;
  for (const Code& filling : fillings) {
    EXPECT_EQ(padding_length(filling), filling.size());
    all.insert(all.end(), filling.begin(), filling.end());
  }
  EXPECT_EQ(padding_length(all), all.size());
}

TEST(RedirectPadding, EndsBeforeCodeAndBeforeAnInstructionThatIsNotWhole) {
  EXPECT_EQ(padding_length({}), 0U);
  EXPECT_EQ(padding_length(code_of({0x90, 0xc3})), 1U);
  EXPECT_EQ(padding_length(code_of({0x90, 0x0f, 0x1f, 0x44, 0x00})), 1U);
  EXPECT_EQ(padding_length(code_of({0x66})), 0U);
  EXPECT_EQ(padding_length(code_of({0x0f, 0x1f})), 0U);
  EXPECT_EQ(padding_length(code_of({0x0f, 0x1e, 0x00})), 0U);
  EXPECT_EQ(padding_length(code_of({0x00, 0x00})), 0U);
}

}  // namespace
}  // namespace fairgv::redirect
