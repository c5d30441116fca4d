// Use of a CPU device's processors without a turn, in simulated time.
#include <gtest/gtest.h>

#include <random>

#include "runtime/daemon/books/processor_book.hpp"
#include "runtime/daemon/turns/excused_time.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using Duration = std::chrono::nanoseconds;

TEST(ProcessorUse, IsFreeWithinTheAllowance) {
  ProcessorUse use;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(use.look(1s, 250ms, 0s, 0.5, 2), 0ns);
  EXPECT_EQ(use.look(1s, 1'250ms, 0s, 0.5, 2), 0ns) << "a burst, such as opening a driver";
  EXPECT_EQ(use.look(1s, 450ms, 0s, 0.5, 2), 100ms) << "and then no more, an Nth for each processor";
  EXPECT_EQ(use.overdraft(), 0ns) << "within its share of the device";
}

TEST(ProcessorUse, IsPaidByTurns) {
  ProcessorUse use;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(use.look(1s, 2s, 1s, 0.5, 2), 0ns);
}

TEST(ProcessorUse, OfAForgerIsChargedInFull) {
  ProcessorUse use;
  (void)use.look(1s, 2s, 0s, 1, 2);
  EXPECT_EQ(use.look(1s, 2s, 0s, 1, 2), (2s - 250ms) / 2);
  EXPECT_EQ(use.overdraft(), 0ns) << "nobody else used the device";
}

TEST(ProcessorUse, IsChargedWhenAPromiseToPayIsBroken) {
  ProcessorUse use;
  EXPECT_EQ(use.look(1s, 2s, 1s, 1, 2), 0ns) << "a command is under way, says the worker";
  EXPECT_EQ(use.look(1s, 0s, -1s, 1, 2), (2s - 250ms - 250ms - 1s + 250ms) / 2) << "it reported none of it";
}

TEST(ProcessorUse, BeyondTheShareAddsUpAndFallsAgain) {
  ProcessorUse use;
  for (int i = 0; i < 11; ++i) (void)use.look(1s, 2s, 0s, 0.5, 2);
  const auto most = use.overdraft();
  EXPECT_GT(most, 3s);
  EXPECT_FALSE(use.clear(1s));
  (void)use.look(1s, 0s, 0s, 0.5, 2);
  EXPECT_EQ(use.overdraft(), most - 500ms);
  for (int i = 0; i < 10; ++i) (void)use.look(1s, 0s, 0s, 0.5, 2);
  EXPECT_EQ(use.overdraft(), 0ns);
  EXPECT_TRUE(use.clear(0s));
}

TEST(ProcessorUse, OfOneProcessorForAMinuteIsNoOverdraftAmongEquals) {
  // A driver that compiles: it uses one of two processors, beside one tenant of the same weight.
  ProcessorUse use;
  Duration charged{0};
  for (int i = 0; i < 60; ++i) charged += use.look(1s, 1s, 0s, 0.5, 2);
  EXPECT_EQ(use.overdraft(), 0ns);
  EXPECT_EQ(charged, (60s - 15s - 1s) / 2);
}

TEST(ProcessorUse, OfACompilerIsChargedInFullAndHeldAgainstNobody) {
  ProcessorUse use;
  Duration charged{0};
  for (int i = 0; i < 60; ++i) charged += use.look(1s, 1s, 0s, 0.1, 2, 1s);
  EXPECT_EQ(charged, 60s / 2) << "neither allowance nor burst";
  EXPECT_EQ(use.overdraft(), 0ns) << "one processor, however small the share";
}

TEST(ProcessorUse, OfACompilerLeavesTheBurstToWhatFollows) {
  ProcessorUse use;
  EXPECT_EQ(use.look(1s, 1s, 0s, 0.5, 2, 1s), 500ms);
  EXPECT_EQ(use.look(100ms, 900ms, 0s, 0.5, 2), 0ns);
}

TEST(ProcessorUse, OfACompilerThatIsSeenAfterItsEndIsHeldAgainstNobody) {
  // A session whose processes have been watched since it first wanted the device, after a compilation.
  ProcessorUse use;
  EXPECT_EQ(use.look(1s, 12s, 0s, 0.5, 2, 11s), 5500ms);
  EXPECT_EQ(use.overdraft(), 0ns);
}

TEST(ProcessorUse, BesideACompilerHasItsAllowance) {
  ProcessorUse use;
  Duration charged{0};
  for (int i = 0; i < 10; ++i) charged += use.look(1s, 700ms, 0s, 0.5, 2, 500ms);
  EXPECT_EQ(charged, 10 * 500ms / 2);
}

TEST(ProcessorUse, OfACompilerIsPaidForByATurnInTheSameTime) {
  ProcessorUse use;
  EXPECT_EQ(use.look(1s, 1s, 400ms, 0.5, 2, 1s), 100ms);
  EXPECT_EQ(use.look(1s, 100ms, -10ms, 0.5, 2, 100ms), 50ms) << "no more than what ran";
}

TEST(ProcessorUse, OfACompilerThatNeverEndsIsHeldAgainstTheTenantUntilItComesForATurn) {
  ProcessorUse use;
  const auto until = [&](Duration overdraft) {
    int seconds = 0;
    for (; use.overdraft() < overdraft && seconds < 3'600; ++seconds) (void)use.look(1s, 1s, 0s, 0.1, 2, 1s);
    return std::chrono::seconds(seconds);
  };
  const auto first = until(10s);
  EXPECT_GE(first, ProcessorUse::kLongestCompiler);
  EXPECT_LE(first, 3 * ProcessorUse::kLongestCompiler);
  EXPECT_LE(until(20s), 40s) << "from then on it is a use like any other";
  (void)use.look(1s, 20ms, 10ms, 0.1, 2);
  EXPECT_GE(until(30s), ProcessorUse::kLongestCompiler);
}

TEST(ProcessorUse, OfMoreThanACompilerNeedsIsChargedEvenToAProgramThatCompiles) {
  ProcessorUse use;
  for (int i = 0; i < 21; ++i) (void)use.look(1s, 2s, 0s, 0.1, 2, 1s);
  EXPECT_GE(use.overdraft(), 4s);
}

/// However a tenant spreads its use over looks, it is charged for all of it except the allowance and one
/// burst.
TEST(ProcessorUse, CannotBeHiddenBetweenLooks) {
  std::minstd_rand random(static_cast<unsigned>(harness::printed_seed()));
  for (int round = 0; round < 200; ++round) {
    ProcessorUse use;
    Duration passed{0}, ran{0}, paid{0}, charged{0};
    const unsigned processors = 1 + random() % 8;
    for (int i = 0; i < 100; ++i) {
      const Duration time = std::chrono::milliseconds(1 + random() % 2'000);
      const Duration used = time * (random() % (100 * processors + 1)) / 100;
      const Duration turn = time * (random() % 101) / 100;
      charged += use.look(time, used, turn, 0.5, processors);
      passed += time;
      ran += used;
      paid += turn;
      EXPECT_LE(charged * processors, ran);
    }
    const auto allowed =
        Duration(static_cast<std::int64_t>(ProcessorUse::kAllowance * static_cast<double>(passed.count())));
    EXPECT_GE(paid * processors + charged * processors + allowed + ProcessorUse::kBurst + 1us, ran);
  }
}

struct ProcessorBooks : ::testing::Test {
  std::vector<ProcessorBook::Finding> look(std::vector<ProcessorBook::Reading> readings) {
    now += 1s;
    return book.look(
        readings, [](TenantId) { return 0.5; }, 2, now);
  }
  ProcessorBook book;
  ProcessorBook::Time now{1'000s};
};

TEST_F(ProcessorBooks, SessionsOfATenantShareItsAllowance) {
  Duration charged{0};
  for (int i = 1; i <= 10; ++i) {
    const auto ran = i * 250ms;
    for (const auto& finding : look({{{1}, {7}, ran, 0s}, {{2}, {7}, ran, 0s}, {{3}, {7}, ran, 0s}})) {
      charged += finding.charged;
    }
  }
  // The time before the first look is unknown, so that nothing is allowed for it.
  EXPECT_EQ(charged, (10 * 750ms - 9 * 250ms - 1s) / 2);
}

TEST_F(ProcessorBooks, ATenantThatBeginsNewSessionsGetsNoNewBurst) {
  Duration charged{0};
  for (std::uint32_t session = 1; session <= 20; ++session) {
    charged += look({{{session}, {7}, 1s, 0s}}).at(0).charged;
    book.forget_session({session});
  }
  EXPECT_EQ(charged, (20s - 19 * 250ms - 1s) / 2);
}

TEST_F(ProcessorBooks, NamesTheSessionThatUsedTheMostBeyondItsTurns) {
  const auto findings = look({{{1}, {7}, 2s, 1s}, {{2}, {7}, 1s, 0s}, {{3}, {8}, 3s, 0s}});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].most, SessionId{2});
  EXPECT_EQ(findings[1].most, SessionId{3});
}

TEST_F(ProcessorBooks, ProcessorTimeThatAnEarlierDaemonHasSeenIsNotChargedAgain) {
  book.go_on({1});
  EXPECT_EQ(look({{{1}, {7}, 1h, 10s}}).at(0).charged, 0s);
  EXPECT_EQ(look({{{1}, {7}, 1h + 1s, 10s + 500ms}}).at(0).charged, 0s);
  EXPECT_GT(look({{{1}, {7}, 1h + 4s, 10s + 500ms}}).at(0).charged, 0s);
}

TEST_F(ProcessorBooks, ATenantMayBeForgottenOnceItOwesNothing) {
  EXPECT_TRUE(book.may_forget({7}, now));
  (void)look({{{1}, {7}, 2s, 0s}});
  EXPECT_FALSE(book.may_forget({7}, now));
  EXPECT_TRUE(book.may_forget({7}, now + 1h));
}

TEST(ExcusedTime, IsFoundedAsFarAsOthersKeptTheProcessorsBusy) {
  ExcusedTime excused;
  excused.add({1}, 100ms, 700ms);
  excused.add({2}, -5ms, 900ms);
  EXPECT_EQ(excused.unfounded(2s, 0s, 2), 0);
  EXPECT_EQ(excused.unfounded(1'800ms, 0s, 2), 0);
  EXPECT_EQ(excused.unfounded(1'700ms, 0s, 2), 0.5);
  EXPECT_EQ(excused.unfounded(1'600ms, 0s, 2), 1);
  EXPECT_EQ(excused.unfounded(1'600ms, 200ms, 2), 0) << "ticks are coarse";
  EXPECT_EQ(excused.by_tenant().size(), 1U);
}

}  // namespace
}  // namespace fairgv::daemon
