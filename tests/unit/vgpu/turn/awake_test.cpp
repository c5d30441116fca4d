// The threads that stay awake for the next event: the loop thread or the driver's own thread for a program
// that comes back quickly, and the loop thread for a turn that was announced.
#include <gtest/gtest.h>

#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;

TEST_F(ExecutorTest, WakesTheLoopWithAProgramThatComesBackQuickly) {
  enqueue(1);
  grant_now();
  device.complete_one();
  EXPECT_FALSE(loop.needs_pump()) << "nothing is known of the program's pauses yet";
  now += 20us;
  enqueue(2);
  loop.pump();
  device.complete_one();
  EXPECT_TRUE(loop.needs_pump()) << "the next command is near";
  loop.pump();
  EXPECT_FALSE(loop.needs_pump());
  now += 10ms;
  enqueue(3);
  loop.pump();
  device.complete_one();
  EXPECT_FALSE(loop.needs_pump()) << "the pause before was long";
}

/// Stands in for an instant.
class Visitor final : public StandIn {
 public:
  explicit Visitor(Executor& executor) : executor_(executor) { executor.set_stand_in(this); }

  void stand_in(Helm::Held held) override {
    ++visits;
    EXPECT_FALSE(executor_.helm().try_take()) << "it has been taken for this";
    EXPECT_TRUE(executor_.at(held).idles_in_turn());
    executor_.helm().let_go(std::move(held));
  }

  int visits = 0;

 private:
  Executor& executor_;
};

TEST_F(ExecutorTest, HasTheDriversThreadStandInForAProgramThatComesBackQuickly) {
  Visitor visitor(executor);
  const auto launch_after = [&](Duration pause, int name) {
    now += pause;
    enqueue(name);
    loop.pump();
    device.complete_one();
  };
  enqueue(1);
  grant_now();
  device.complete_one();
  EXPECT_EQ(visitor.visits, 0) << "nothing is known of the program's pauses yet";
  launch_after(20us, 2);
  EXPECT_EQ(visitor.visits, 1);
  EXPECT_FALSE(loop.needs_pump()) << "nobody else is needed";
  launch_after(10ms, 3);
  EXPECT_EQ(visitor.visits, 1) << "the pause before was long";
  launch_after(20us, 4);
  EXPECT_EQ(visitor.visits, 2);
}

TEST_F(ExecutorTest, WaitingForTheTurnIsNoPauseOfTheProgram) {
  Visitor visitor(executor);
  come_back_quickly();
  turns[0].state = static_cast<std::uint32_t>(TurnState::busy_asked);
  device.complete_one();
  now += 20us;
  enqueue(3);
  loop.pump();
  now += 45ms;
  grant(6ms);
  device.complete_one();
  EXPECT_EQ(visitor.visits, 1);
}

TEST_F(ExecutorTest, NobodyStandsInWhileThereIsWork) {
  Visitor visitor(executor);
  enqueue(1);
  grant_now();
  device.complete_one();
  enqueue(2);
  enqueue(3);
  loop.pump();
  device.complete_one();
  EXPECT_EQ(visitor.visits, 0);
  device.complete_one();
  EXPECT_EQ(visitor.visits, 1);
}

TEST_F(ExecutorTest, TheLoopIsWokenAsBeforeWhereSomebodyElseHasTheHelm) {
  Visitor visitor(executor);
  come_back_quickly();
  const auto held = executor.helm().try_take();
  ASSERT_TRUE(held);
  device.complete_one();
  EXPECT_EQ(visitor.visits, 0);
  EXPECT_TRUE(loop.needs_pump());
}

TEST_F(ExecutorTest, NobodyStandsInWithoutTheTurn) {
  Visitor visitor(executor);
  come_back_quickly();
  turns[0].state = static_cast<std::uint32_t>(TurnState::busy_asked);
  device.complete_one();
  EXPECT_EQ(state(), TurnState::idle);
  EXPECT_EQ(visitor.visits, 0);
}

TEST_F(ExecutorTest, AStandInHearsThatAContendedTurnLingers) {
  Visitor visitor(executor);
  enqueue(1);
  loop.pump();
  grant(6ms);
  now += 100us;
  device.complete_one();
  now += 20us;
  enqueue(2);
  loop.pump();
  now += 100us;
  device.complete_one();
  ASSERT_EQ(visitor.visits, 1);
  EXPECT_TRUE(loop.needs_pump());
  loop.issue();
  EXPECT_TRUE(loop.idles_in_turn());
  now = loop.deadline().at;
  loop.issue();
  EXPECT_FALSE(loop.idles_in_turn());
  EXPECT_EQ(state(), TurnState::idle);
}

TEST_F(ExecutorTest, TheLoopThreadComesToFreeWhatHasEndedWhileOthersStandIn) {
  Visitor visitor(executor);
  loop.pump();
  int launches = 0;
  int gone = 0;
  const auto launch = [&] {
    const auto command = std::make_shared<FakeCommand>(device, lane, ++launches);
    command->when_gone = [&gone] { ++gone; };
    ASSERT_TRUE(executor.enqueue(command, {}, {}));
    loop.issue();
    if (launches == 1) grant();
    device.complete_one();
    now += 1us;
  };
  while (gone == 0 && launches < 10'000) {
    launch();
    if (loop.needs_pump()) loop.pump();  // the loop thread
  }
  EXPECT_GT(gone, 1);
  EXPECT_GT(visitor.visits, 100);
}

// A thread that sleeps through the grant of a turn that is due wakes up too late for it.
TEST_F(ExecutorTest, TheLoopStaysAwakeForATurnThatWasAnnouncedButNotForEver) {
  enqueue(1);
  loop.pump();
  EXPECT_EQ(loop.deadline().at, TimePoint::max());
  ++turns[0].due;
  ASSERT_TRUE(loop.needs_pump());
  loop.pump();
  EXPECT_TRUE(loop.deadline().awake);
  EXPECT_EQ(loop.deadline().at, now + 1200us);
  now = loop.deadline().at;
  loop.pump();
  EXPECT_EQ(loop.deadline().at, TimePoint::max());
  grant(6ms);
  EXPECT_EQ(device.issued().size(), 1u);
}

}  // namespace
}  // namespace fairgv::vgpu
