// The steps of a move, and what the messages of both workers mean in each.
#include "runtime/daemon/moves/move_steps.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using session::WorkerMessage;
using Due = MoveSteps::Due;
using Old = MoveSteps::Old;
using Step = MoveSteps::Step;

struct StepsOfAMove : ::testing::Test {
  static std::string refused(const Result<Due>& due) { return due ? "not refused" : due.error().message; }

  const MoveSteps::Time start{1'000s};
  MoveSteps steps{{30s, 40s, 60s, 90s}, start};
  std::uint64_t number = 0;
  const WorkerMessage ready = session::WorkerReady{{{"p", "d", 4}}};
  static constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

  /// The two workers copy ahead, and so much is left. The order that is due then.
  Due copy(std::uint64_t left) {
    steps.begin_copying(++number, start);
    EXPECT_EQ(steps.hear_old(session::CopiedAhead{number, 100, left}).value(), Due::make_ahead);
    steps.begin_preparing(start);
    return steps.hear_new(session::MadeAhead{}).value();
  }

  const WorkerMessage image = session::ImageWritten{100};
  const WorkerMessage made = session::MadeAgain{};
};

TEST_F(StepsOfAMove, FollowEachOther) {
  EXPECT_EQ(steps.old(), Old::serves);
  ASSERT_EQ(steps.hear_new(ready).value(), Due::copy_ahead);
  EXPECT_EQ(steps.copied(), 0U);
  ASSERT_EQ(copy(0), Due::write_image);
  EXPECT_EQ(steps.copied(), number);
  EXPECT_EQ(steps.old(), Old::serves);
  steps.begin_writing(start + 1s);
  EXPECT_EQ(steps.step(), Step::writing);
  EXPECT_EQ(steps.old(), Old::writes);
  ASSERT_EQ(steps.hear_old(image).value(), Due::make_again);
  EXPECT_EQ(steps.old(), Old::rests);
  steps.begin_making(start + 3s);
  ASSERT_EQ(steps.hear_new(made).value(), Due::commit);
  EXPECT_EQ(steps.held(start + 4s), 3s) << "since the old worker was told to write";
}

TEST_F(StepsOfAMove, CopyAheadAgainAsLongAsClearlyLessIsLeft) {
  (void)steps.hear_new(ready);
  EXPECT_EQ(copy(800 * kMiB), Due::copy_ahead);
  EXPECT_EQ(copy(400 * kMiB), Due::copy_ahead);
  EXPECT_EQ(copy(350 * kMiB), Due::write_image) << "the program writes as fast as it is copied";
}

TEST_F(StepsOfAMove, DoNotCopyAheadForLittle) {
  (void)steps.hear_new(ready);
  EXPECT_EQ(copy(MoveSteps::kWorthCopying), Due::copy_ahead);
  EXPECT_EQ(copy(MoveSteps::kWorthCopying / 2), Due::write_image);
}

TEST_F(StepsOfAMove, CopyAheadOnlySoOften) {
  (void)steps.hear_new(ready);
  std::uint64_t left = std::uint64_t{1} << 40;
  for (int i = 1; i < MoveSteps::kMostCopies; ++i) EXPECT_EQ(copy(left /= 2), Due::copy_ahead);
  EXPECT_EQ(copy(left / 2), Due::write_image);
}

TEST_F(StepsOfAMove, GoOnWithoutACopyThatTakesTooLong) {
  (void)steps.hear_new(ready);
  ASSERT_EQ(copy(800 * kMiB), Due::copy_ahead);
  EXPECT_FALSE(steps.goes_on_without());
  steps.begin_copying(7, start + 1s);
  EXPECT_EQ(steps.deadline(), start + 41s);
  EXPECT_TRUE(steps.goes_on_without());
  steps.begin_writing(start + 41s);
  EXPECT_FALSE(steps.goes_on_without());
  // It has crossed the order.
  EXPECT_EQ(steps.hear_old(session::CopiedAhead{7, 100, 0}).value(), Due::nothing);
  EXPECT_EQ(steps.copied(), number) << "the one before it";
  EXPECT_EQ(steps.hear_old(image).value(), Due::make_again);
}

TEST_F(StepsOfAMove, LeaveOutACopyOfAnEarlierMove) {
  (void)steps.hear_new(ready);
  steps.begin_copying(8, start);
  EXPECT_EQ(steps.hear_old(session::CopiedAhead{7, 100, 0}).value(), Due::nothing);
  EXPECT_EQ(steps.hear_old(session::CopiedAhead{8, 100, 0}).value(), Due::make_ahead);
}

TEST_F(StepsOfAMove, WaitForImagesOnTheirWay) {
  (void)steps.hear_new(ready);
  steps.begin_copying(++number, start);
  ASSERT_EQ(steps.hear_old(session::CopiedAhead{number, 100, 0}).value(), Due::make_ahead);
  steps.begin_sending(true, start + 2s);
  EXPECT_EQ(steps.deadline(), start + 2s);
  EXPECT_TRUE(steps.sends_ahead());
  EXPECT_FALSE(steps.goes_on_without());
  EXPECT_EQ(steps.hear_old(session::CopiedAhead{number, 100, 0}).value(), Due::nothing) << "said twice";
  EXPECT_EQ(refused(steps.hear_new(session::MadeAhead{})), "its new worker spoke out of turn");
  steps.begin_preparing(start + 2s);
  EXPECT_FALSE(steps.sends_ahead());
  ASSERT_EQ(steps.hear_new(session::MadeAhead{}).value(), Due::write_image);
  steps.begin_writing(start + 3s);
  ASSERT_EQ(steps.hear_old(image).value(), Due::make_again);
  steps.begin_sending(false, start + 4s);
  EXPECT_FALSE(steps.sends_ahead());
  EXPECT_EQ(steps.held(start + 4s), 1s) << "the program waits";
}

TEST_F(StepsOfAMove, HaveADeadlineEach) {
  EXPECT_EQ(steps.deadline(), start + 30s);
  EXPECT_EQ(steps.too_late(), "its new worker was not ready within 30 s: the device's driver may hang");
  steps.begin_writing(start + 1s);
  EXPECT_EQ(steps.deadline(), start + 61s);
  EXPECT_NE(steps.too_late().find("within 60 s (move_patience_s)"), std::string::npos) << steps.too_late();
  steps.begin_making(start + 3s);
  EXPECT_EQ(steps.deadline(), start + 93s);
  EXPECT_EQ(steps.too_late(), "its new worker has not made the session again within 90 s");
}

TEST_F(StepsOfAMove, AnOldWorkerThatRefusesServesOn) {
  steps.begin_writing(start);
  EXPECT_EQ(refused(steps.hear_old(session::CannotMove{"pipe 7 has contents"})), "pipe 7 has contents");
  EXPECT_EQ(steps.old(), Old::serves);
}

TEST_F(StepsOfAMove, ANewWorkerMayFailInEachStep) {
  const WorkerMessage failed = session::WorkerFailed{"no driver"};
  EXPECT_EQ(refused(steps.hear_new(failed)), "its new worker failed: no driver");
  steps.begin_writing(start);
  EXPECT_EQ(refused(steps.hear_new(failed)), "its new worker failed: no driver");
  steps.begin_making(start);
  EXPECT_EQ(refused(steps.hear_new(failed)), "its new worker failed: no driver");
}

TEST_F(StepsOfAMove, ANewWorkerThatSpeaksOutOfTurnFailsTheMove) {
  const std::string offence = "its new worker spoke out of turn";
  EXPECT_EQ(refused(steps.hear_new(made)), offence);
  EXPECT_EQ(refused(steps.hear_new(image)), offence);
  steps.begin_writing(start);
  EXPECT_EQ(refused(steps.hear_new(ready)), offence);
  EXPECT_EQ(refused(steps.hear_new(made)), offence);
  steps.begin_making(start);
  EXPECT_EQ(refused(steps.hear_new(ready)), offence);
  EXPECT_EQ(refused(steps.hear_new(session::LongCommand{0, "k", "r", 1, 1, 1})), offence);
}

}  // namespace
}  // namespace fairgv::daemon
