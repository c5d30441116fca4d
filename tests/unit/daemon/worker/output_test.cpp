// The pipe through which a worker's messages come, and the messages that are logged.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "runtime/daemon/worker/output.hpp"
#include "tests/unit/daemon/log.hpp"

namespace fairgv::daemon {
namespace {

struct WorkerOutputTest : ::testing::Test {
  WorkerOutputTest() {
    auto made = WorkerOutput::make();
    output = std::move(made->first);
    writer = std::move(made->second);
    EXPECT_TRUE(output->relay(*events, "session 7 of tenant bob"));
  }

  void write(const std::string& text) {
    ASSERT_EQ(::write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  /// One turn of the daemon's loop.
  void turn() {
    events->wait(output->deadline());
    output->expire(std::chrono::steady_clock::now());
  }

  Log log;
  std::unique_ptr<EventLoop> events = std::move(EventLoop::create()).value();
  std::unique_ptr<WorkerOutput> output;
  UniqueFd writer;
};

TEST_F(WorkerOutputTest, IsLoggedLineByLineWithItsSession) {
  write("one\ntwo\n");
  turn();
  EXPECT_EQ(log.count("session 7 of tenant bob: its worker says: one\n"), 1u);
  EXPECT_EQ(log.count("session 7 of tenant bob: its worker says: two\n"), 1u);
}

TEST_F(WorkerOutputTest, TheProgramGetsWhatTheDriverSaysAndNotWhatTheWorkerDoes) {
  std::vector<std::string> told;
  output->hold_for_program();
  write("a warning\x1b[2J\nfairgv-vgpu: info: one of ours\n");
  turn();
  EXPECT_EQ(log.count("session 7 of tenant bob: its worker says: info: one of ours\n"), 1u);
  output->tell_program(
      [&](const WorkerOutput::Lines& lines) { told.insert(told.end(), lines.begin(), lines.end()); });
  EXPECT_EQ(told, std::vector<std::string>({"a warning?[2J"})) << "said before the program could be told";
  write("another\nand the la");
  output->catch_up();
  EXPECT_EQ(told.size(), 2u);
  write("st\n");
  output->finish();
  EXPECT_EQ(told, std::vector<std::string>({"a warning?[2J", "another", "and the last"}));
}

TEST_F(WorkerOutputTest, TheProgramGetsOnlySoMuchOfAFlood) {
  std::size_t told = 0;
  output->hold_for_program();
  output->tell_program([&](const WorkerOutput::Lines& lines) { told += lines.size(); });
  std::string flood;
  for (int line = 0; line < 10'000; ++line) flood += "x\n";
  for (int piece = 0; piece < 3; ++piece) {
    write(flood);
    turn();
  }
  EXPECT_GE(told, 400u);
  EXPECT_LT(told, 1'000u);
}

TEST_F(WorkerOutputTest, AProgramThatWantsNothingIsToldNothing) {
  output->tell_program([](const WorkerOutput::Lines&) { FAIL(); });
  write("a warning\n");
  turn();
  EXPECT_EQ(log.count("its worker says: a warning\n"), 1u);
}

TEST_F(WorkerOutputTest, EndsWithTheLastWords) {
  write("why it gave");
  turn();
  write(" up");
  output->finish();
  EXPECT_EQ(log.count("its worker says: why it gave up\n"), 1u);
}

TEST_F(WorkerOutputTest, OfALineThatIsNotCompleteIsToldBeforeADaemonMakesWay) {
  write("half a line");
  turn();
  output->tell_rest();
  EXPECT_EQ(log.count("its worker says: half a line\n"), 1u);
  const auto next = WorkerOutput::adopt(UniqueFd(::dup(output->fd())));
  output.reset();
  write(" and the rest\n");
  ASSERT_TRUE(next->relay(*events, "session 7 of tenant bob"));
  events->wait(std::nullopt);
  EXPECT_EQ(log.count("its worker says:  and the rest\n"), 1u);
}

TEST_F(WorkerOutputTest, IsReadOnAndOnWhileAWorkerFloods) {
  // A worker that does not wait: the test plays both sides.
  ASSERT_EQ(::fcntl(writer.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string flood(4'096, '\n');
  constexpr std::size_t kPieces = 1'000;
  for (std::size_t written = 0; written < kPieces;) {
    if (::write(writer.get(), flood.data(), flood.size()) > 0) {
      ++written;
    } else {
      turn();
    }
  }
  output->finish();
  EXPECT_EQ(log.count("its worker says"), 0u);
}

TEST_F(WorkerOutputTest, RestsBetweenLooksAtAWorkerThatSaysLittleVeryOften) {
  bool has_rested = false;
  for (int word = 0; word < 1'000 && !has_rested; ++word) {
    write("w");
    turn();
    has_rested = output->deadline().has_value();
  }
  EXPECT_TRUE(has_rested);
}

TEST_F(WorkerOutputTest, IsLeftAloneWhenNobodyCanWriteAnyMore) {
  writer.reset();
  turn();
  EXPECT_FALSE(output->deadline());
  events->wait(std::chrono::steady_clock::now());  // would call back again and again
  output->finish();
}

TEST_F(WorkerOutputTest, ThatItsWriterMakesNonBlockingBlocksNobodyHere) {
  // The ends are two open files: the worker's changes to its own end do not affect the daemon's.
  ASSERT_EQ(::fcntl(writer.get(), F_SETFL, 0), 0);
  EXPECT_NE(::fcntl(output->fd(), F_GETFL) & O_NONBLOCK, 0);
  output->finish();
}

}  // namespace
}  // namespace fairgv::daemon
