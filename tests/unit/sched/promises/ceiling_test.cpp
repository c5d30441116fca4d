// One ceiling: its window, its pace, and when a tenant that has reached it goes on.
#include "sched/promises/ceiling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/harness/sanitized.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr Time kBegin{1'000s};
constexpr Share kHalf{500'000};
constexpr Share kTenth{100'000};

TEST(Ceiling, ANewOneAllowsWhatIsAllowedInAHundredMilliseconds) {
  EXPECT_EQ(Ceiling(kHalf).left(kBegin), 50ms);
  EXPECT_EQ(Ceiling(kTenth).left(kBegin), 10ms);
  EXPECT_EQ(Ceiling(kHalf).left(Time{}), 50ms) << "at time zero, too";
  EXPECT_EQ(Ceiling(kHalf).free_at(kBegin), kBegin);
}

TEST(Ceiling, ThePaceIsUsedUpByUseAndComesBackWithTime) {
  Ceiling ceiling(kHalf);
  ceiling.charge(20ms, kBegin);
  EXPECT_EQ(ceiling.left(kBegin), 40ms) << "what passed meanwhile was allowed, too";
  ceiling.charge(40ms, kBegin + 40ms);
  EXPECT_EQ(ceiling.left(kBegin + 40ms), 20ms);
  EXPECT_EQ(ceiling.left(kBegin + 60ms), 30ms);
  EXPECT_EQ(ceiling.left(kBegin + 100ms), 50ms);
  EXPECT_EQ(ceiling.left(kBegin + 10s), 50ms) << "no more is saved up";
}

TEST(Ceiling, AnOverrunIsPaidByWaiting) {
  Ceiling ceiling(kTenth);
  ceiling.charge(30ms, kBegin);  // began with 10 ms; has paced 300 ms
  EXPECT_EQ(ceiling.left(kBegin), 0ms);
  // It began 30 ms ago, with the budget of 100 ms before.
  const Time paid = kBegin - 30ms - 100ms + 300ms;
  EXPECT_EQ(ceiling.paced_until(), paid);
  EXPECT_EQ(ceiling.left(paid), 0ms);
  EXPECT_EQ(ceiling.left(paid + 10us), 1us);
  EXPECT_EQ(ceiling.free_at(kBegin), paid + 10ms) << "a tenth of 100 ms is free then: 1 ms of use";
  EXPECT_EQ(ceiling.left(paid + 10ms), 1ms);
}

TEST(Ceiling, TheWindowBoundsTheUseOfAnySecond) {
  Ceiling ceiling(kTenth);
  // Just at the pace, but with the first 10 ms in hand.
  ceiling.charge(10ms, kBegin);
  Time now = kBegin;
  for (int i = 0; i < 9; ++i) ceiling.charge(10ms, now += 100ms);
  EXPECT_EQ(ceiling.left(now), 0ms) << "100 ms in 910 ms";
  EXPECT_GT(now - ceiling.paced_until(), 0ms) << "the pace would allow more";
  EXPECT_EQ(ceiling.left(kBegin - 10ms + 1s), 0ms);
  EXPECT_EQ(ceiling.left(kBegin - 10ms + 1s + 1us), 1us) << "the first interval leaves the window";
  EXPECT_EQ(ceiling.free_at(now), kBegin - 10ms + 1s + 1ms) << "... a tenth of the pace's budget of it";
}

TEST(Ceiling, AnIntervalLeavesTheWindowBitByBit) {
  Ceiling ceiling(kHalf);
  ceiling.charge(400ms, kBegin);
  ceiling.charge(100ms, kBegin + 500ms);
  const Time edge = kBegin - 400ms + 1s;
  EXPECT_EQ(ceiling.left(edge), 0ms);
  EXPECT_EQ(ceiling.left(edge + 1ns), 1ns);
  EXPECT_EQ(ceiling.left(edge + 7ms), 7ms);
  EXPECT_EQ(ceiling.left(kBegin + 1s), 50ms) << "the pace";
}

TEST(Ceiling, JoinedUseLeavesTheWindowNoSoonerThanItMayHaveHappened) {
  Ceiling ceiling(Share{1'000});  // 1 ms in a second
  ceiling.charge(100us, kBegin);
  ceiling.charge(100us, kBegin + 500us);
  EXPECT_EQ(ceiling.last_second().size(), 1U) << "within a grain";
  ceiling.charge(100us, kBegin + 5ms);
  EXPECT_EQ(ceiling.last_second().size(), 2U);
  // 200 us in an interval of 600 us: they may have been its end.
  const auto used = [&](Time now) { return ceiling.max().of(1s) - ceiling.left(now); };
  ceiling.charge(700us, kBegin + 900ms);
  ceiling.restore(ceiling.last_second(), kBegin);  // so that only the window bounds it
  EXPECT_EQ(used(kBegin + 1s - 100us + 400us), 1'000us);
  EXPECT_EQ(used(kBegin + 1s - 100us + 450us), 950us);
  EXPECT_EQ(used(kBegin + 1s + 500us), 900us) << "the shares of 100 ms would be 100 us";
}

TEST(Ceiling, UseThatIsReportedLateLeavesTheWindowWithItsInterval) {
  Ceiling ceiling(Share{10'000});
  ceiling.charge(5ms, kBegin);
  ceiling.charge(5ms, kBegin);  // 10 ms in an interval of 5
  EXPECT_EQ(ceiling.left(kBegin + 995ms), 0ms);
  EXPECT_EQ(ceiling.free_at(kBegin), kBegin + 995ms + 1ns);
  EXPECT_GE(ceiling.left(kBegin + 995ms + 1ns), 100us);
}

TEST(Ceiling, MemoryIsBoundedHoweverShortTheTurns) {
  Ceiling ceiling(kWholeDevice);
  Time now = kBegin;
  std::size_t most = 0;
  for (int i = 0; i < 200'000; ++i) {
    ceiling.charge(5us, now += 10us);
    static_cast<void>(ceiling.left(now));
    if (i % 1'000 == 0) most = std::max(most, ceiling.last_second().size());
  }
  EXPECT_LE(most, 2'010U);
  EXPECT_NEAR(static_cast<double>(ceiling.left(now).count()), 1e8, 1e6);
}

TEST(Ceiling, AChangedMaximumHoldsForWhatWasUsedBefore) {
  Ceiling ceiling(kTenth);
  ceiling.charge(60ms, kBegin);  // 600 ms of pace; 160 ms were there
  ASSERT_EQ(ceiling.paced_until(), kBegin + 440ms);
  ceiling.set(kHalf, kBegin);
  EXPECT_EQ(ceiling.paced_until(), kBegin + 88ms) << "44 ms too much, at half of the device";
  EXPECT_EQ(ceiling.max(), kHalf);
  ceiling.set(kTenth, kBegin);
  EXPECT_EQ(ceiling.paced_until(), kBegin + 440ms);
  Ceiling unused(kHalf);
  unused.set(kTenth, kBegin);
  EXPECT_EQ(unused.left(kBegin), 10ms);
}

TEST(Ceiling, ForgettingItLosesNothingOnlyWhenASecondHasPassedAndThePaceIsFull) {
  Ceiling ceiling(kTenth);
  EXPECT_TRUE(ceiling.fresh(kBegin));
  ceiling.charge(10ms, kBegin);
  EXPECT_FALSE(ceiling.fresh(kBegin + 1s - 1ns));
  EXPECT_TRUE(ceiling.fresh(kBegin + 1s));
  ceiling.charge(200ms, kBegin + 2s);  // began at 1.8 s, less 100 ms: paced until 3.7 s
  EXPECT_FALSE(ceiling.fresh(kBegin + 3s + 799ms));
  EXPECT_TRUE(ceiling.fresh(kBegin + 3s + 800ms));
}

TEST(Ceiling, ARestoredOneGoesOnWhereTheOldOneWas) {
  Ceiling old(kTenth);
  for (int i = 0; i < 7; ++i) old.charge(10ms, kBegin + i * 80ms);
  Ceiling restored(kTenth);
  restored.charge(1ms, kBegin);  // forgotten
  restored.restore(old.last_second(), old.paced_until());
  for (const Duration after : {480ms, 500ms, 600ms, 1'000ms, 1'050ms, 1'700ms}) {
    EXPECT_EQ(restored.left(kBegin + after), old.left(kBegin + after));
    EXPECT_EQ(restored.free_at(kBegin + after), old.free_at(kBegin + after));
  }
}

TEST(Ceiling, TimeThatIsNoneChangesNothing) {
  Ceiling ceiling(kHalf);
  ceiling.charge(0ns, kBegin);
  ceiling.charge(-5ms, kBegin);
  EXPECT_EQ(ceiling.left(kBegin), 50ms);
  EXPECT_TRUE(ceiling.last_second().empty());
}

TEST(Ceiling, KernelsOfHoursUnderTheSmallestCeilingOverflowNothing) {
  Ceiling ceiling(Share{1});
  for (int i = 1; i <= 100; ++i) {
    ceiling.charge(24h, kBegin + 24h * i);
    const Time now = kBegin + 24h * i;
    ASSERT_LE(ceiling.left(now), 0ns);
    ASSERT_GT(ceiling.free_at(now), now + 24h * 365 * 90);
  }
  EXPECT_FALSE(ceiling.fresh(kBegin + 24h * 200));
}

// free_at() is the first moment at which a tenth of the pace's budget may be used; left() is exact there.
TEST(CeilingRandom, FreeAtIsTheFirstMomentAtWhichEnoughIsFree) {
  std::mt19937_64 random(harness::printed_seed());
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < harness::rounds(300); ++round) {
    const Share max{static_cast<std::uint32_t>(between(100, 900'000))};
    const Duration resume = std::max(max.of(100ms) / 10, Duration(1));
    Ceiling ceiling(max);
    Time now = kBegin;
    int waits = 0;
    for (int turn = 0; turn < 200; ++turn) {
      if (between(0, 3) == 0) now += Duration(between(1, 1'000'000));
      if (ceiling.left(now) <= Duration(0)) {
        const Time free = ceiling.free_at(now);
        ASSERT_GT(free, now);
        // Copies, since looking ahead forgets.
        ASSERT_LT(Ceiling(ceiling).left(free - Duration(1)), resume);
        ASSERT_GE(Ceiling(ceiling).left(free), resume);
        now = free;
        ++waits;
      }
      const Duration used(between(1, 20'000'000));
      now += used;
      ceiling.charge(used, now);
    }
    ASSERT_GT(waits, 0) << "max " << max.ppm;
  }
}

// Against every single use, kept for ever: no second ever holds more than max and the last turn's overrun.
TEST(CeilingRandom, NoSecondHoldsMoreThanTheMaximumAndOneOverrun) {
  std::mt19937_64 random(harness::printed_seed());
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < harness::rounds(60); ++round) {
    const Share max{static_cast<std::uint32_t>(between(1'000, 999'999))};
    const Duration grain(between(1'000, 2'000'000));
    Ceiling ceiling(max);
    std::vector<UsedInterval> uses;
    Time now = kBegin;
    for (int turn = 0; turn < 2'000; ++turn) {
      now += Duration(between(0, grain.count()));
      const Duration left = ceiling.left(now);
      if (left <= Duration(0)) {
        now = ceiling.free_at(now);
        continue;
      }
      const Duration used = std::min(Duration(between(1, grain.count())), left);
      uses.push_back({now, now + used, used});
      now += used;
      ceiling.charge(used, now);
      const Time edge = now - 1s;
      Duration in_second{0};
      for (auto use = uses.rbegin(); use != uses.rend() && use->to > edge; ++use) {
        in_second += use->to - std::max(use->from, edge);
      }
      ASSERT_LE(in_second, max.of(1s)) << "turn " << turn << ", max " << max.ppm;
    }
  }
}

}  // namespace
}  // namespace fairgv::sched
