#include "runtime/session/compile_clock.hpp"

#include <gtest/gtest.h>

namespace fairgv::session {
namespace {

using namespace std::chrono_literals;

constexpr CompileClock::Time kStart{40 * 24h + 5ms};  // more milliseconds than the word holds

TEST(CompileClock, ShowsHowLongItHasRun) {
  CompileClock clock;
  EXPECT_EQ(clock.shows(kStart), 0U);
  clock.start(kStart);
  EXPECT_TRUE(CompileClock(clock.word()).runs());
  EXPECT_EQ(CompileClock(clock.word()).shows(kStart + 700ms), 700U);
  clock.stop(kStart + 1s);
  EXPECT_FALSE(CompileClock(clock.word()).runs());
  EXPECT_EQ(CompileClock(clock.word()).shows(kStart + 1h), 1'000U);
  clock.start(kStart + 2h);
  EXPECT_EQ(CompileClock(clock.word()).shows(kStart + 2h + 1ms), 1'001U);
}

TEST(CompileClock, BeginsAnewAndGoesOn) {
  CompileClock clock;
  clock.start(kStart);
  const std::uint32_t before = clock.shows(kStart + 24 * 24h);
  const std::uint32_t after = clock.shows(kStart + 25 * 24h);
  EXPECT_LT(after, before);
  EXPECT_EQ(CompileClock::between(before, after), 24h);
}

TEST(CompileClock, ThatGoesBackHasNotRun) {
  EXPECT_EQ(CompileClock::between(5, 4), 0ms);
  EXPECT_EQ(CompileClock::between(5, 5), 0ms);
}

}  // namespace
}  // namespace fairgv::session
