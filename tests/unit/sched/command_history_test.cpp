// The memory of commands: when a kind is known, how it is corrected, and which kinds are forgotten.
#include "sched/command_history.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

namespace {

using fairgv::sched::CommandHistory;
using fairgv::sched::CommandKind;
using fairgv::sched::Duration;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using Count = CommandHistory::Count;

constexpr CommandKind kKernel = 7;
constexpr CommandKind kOther = 8;

void learn(CommandHistory& history, CommandKind kind, Duration time) {
  for (std::uint32_t i = 0; i < CommandHistory::kDefaultSamples; ++i) history.sampled(kind, time);
}

TEST(CommandHistory, AKindIsKnownAfterItsSamplesWithTheirMean) {
  CommandHistory history;
  for (const int time : {80, 90, 100, 110}) {
    history.sampled(kKernel, microseconds(time));
    EXPECT_FALSE(history.expected(kKernel));
  }
  history.sampled(kKernel, microseconds(120));
  EXPECT_EQ(history.expected(kKernel), microseconds(100));
  EXPECT_FALSE(history.expected(kOther)) << "another grid, another kind";
}

TEST(CommandHistory, OneSampleIsEnoughIfAskedForNone) {
  CommandHistory history(0);
  EXPECT_FALSE(history.expected(kKernel));
  history.sampled(kKernel, microseconds(50));
  EXPECT_EQ(history.expected(kKernel), microseconds(50));
}

TEST(CommandHistory, NothingIsExpectedToTakeLessThanAMicrosecond) {
  CommandHistory history(1);
  history.sampled(kKernel, nanoseconds(3));
  history.sampled(kOther, microseconds(-5));
  EXPECT_EQ(history.expected(kKernel), CommandHistory::kShortestCommand);
  EXPECT_EQ(history.expected(kOther), CommandHistory::kShortestCommand);
}

TEST(CommandHistory, ARunMovesTheMeanHalfOfTheWay) {
  CommandHistory history;
  learn(history, kKernel, microseconds(100));
  history.ran(std::array{Count{kKernel, 10}}, microseconds(1'200));
  EXPECT_EQ(history.expected(kKernel), microseconds(110));
}

TEST(CommandHistory, RunsOfTwoKindsCorrectBothInProportion) {
  CommandHistory history;
  learn(history, kKernel, microseconds(100));
  learn(history, kOther, microseconds(20));
  history.ran(std::array{Count{kKernel, 4}, Count{kOther, 5}}, microseconds(1'000));  // 500 expected
  EXPECT_EQ(history.expected(kKernel), microseconds(150));
  EXPECT_EQ(history.expected(kOther), microseconds(30));
}

// Section 3.3.2: the kernels of a program are alike until it enters another phase.
TEST(CommandHistory, AProgramThatHasChangedIsSampledAgain) {
  CommandHistory history;
  learn(history, kKernel, microseconds(100));
  history.ran(std::array{Count{kKernel, 10}}, microseconds(4'001));
  EXPECT_FALSE(history.expected(kKernel));
  learn(history, kKernel, microseconds(400));
  EXPECT_EQ(history.expected(kKernel), microseconds(400)) << "what was before does not count";
  history.ran(std::array{Count{kKernel, 10}}, microseconds(900));
  EXPECT_FALSE(history.expected(kKernel));
}

TEST(CommandHistory, ARunOfUnknownKindsTeachesNothing) {
  CommandHistory history;
  history.ran(std::array{Count{kKernel, 10}}, microseconds(900));
  history.ran({}, microseconds(900));
  EXPECT_EQ(history.size(), 0U);
}

TEST(CommandHistory, ForgetsWhatWasUnusedForLongestAndStaysBounded) {
  constexpr std::size_t kCapacity = 64;
  CommandHistory history(1, kCapacity);
  for (CommandKind kind = 1000; kind < 9000; ++kind) {
    history.sampled(kKernel, microseconds(10));
    history.sampled(kind, microseconds(1));
    ASSERT_LE(history.size(), kCapacity);
    ASSERT_TRUE(history.expected(kKernel)) << "in use all the time, forgotten at " << kind;
  }
  EXPECT_FALSE(history.expected(1000));
}

TEST(CommandHistory, AnEstimateIsTheBoundUntilThereIsASample) {
  CommandHistory history;
  EXPECT_EQ(history.estimate(7), std::nullopt);
  history.bounded(7, microseconds(300));
  history.bounded(7, microseconds(900));
  history.bounded(7, microseconds(200));
  EXPECT_EQ(history.estimate(7), microseconds(200));
  EXPECT_EQ(history.expected(7), std::nullopt) << "it was not measured";
  history.sampled(7, microseconds(100));
  EXPECT_EQ(history.estimate(7), microseconds(100));
  history.bounded(7, microseconds(50));
  EXPECT_EQ(history.estimate(7), microseconds(100));
}

TEST(CommandHistory, AnotherGoesOnWithWhatItKnows) {
  CommandHistory history(5, 4);
  learn(history, kOther, microseconds(20));
  learn(history, kKernel, microseconds(100));
  history.sampled(9, microseconds(7));
  history.bounded(10, microseconds(50));
  CommandHistory next(5, 4);
  for (const auto& each : history.known()) next.take_over(each);
  EXPECT_EQ(next.size(), 4U);
  EXPECT_EQ(next.expected(kKernel), microseconds(100));
  EXPECT_EQ(next.expected(kOther), microseconds(20));
  EXPECT_FALSE(next.expected(9));
  EXPECT_EQ(next.estimate(9), microseconds(7));
  EXPECT_EQ(next.estimate(10), microseconds(50));
  // The half that was unused for longest is forgotten first there, too.
  next.sampled(11, microseconds(1));
  EXPECT_FALSE(next.estimate(kOther));
  EXPECT_FALSE(next.estimate(kKernel));
  EXPECT_TRUE(next.estimate(9));
  next.sampled(10, microseconds(30));
  EXPECT_EQ(next.estimate(10), microseconds(30)) << "a bound gives way to a sample";
}

TEST(CommandHistory, OnlyWhatItCouldHaveLearntItselfIsTakenOver) {
  CommandHistory history(3);
  history.take_over({kKernel, microseconds(-1), 4'000'000'000});
  EXPECT_EQ(history.expected(kKernel), CommandHistory::kShortestCommand);
  history.take_over({kOther, microseconds(40), 0});
  EXPECT_FALSE(history.expected(kOther)) << "a guess is measured";
  learn(history, kOther, microseconds(90));
  EXPECT_EQ(history.expected(kOther), microseconds(90));
}

}  // namespace
