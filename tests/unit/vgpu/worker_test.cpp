// The worker's loop and the threads that stand in for it, over calls that the test handles and a device whose
// commands the test ends.
#include "runtime/vgpu/worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <thread>

#include "tests/harness/sanitized.hpp"
#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;

constexpr wire::Opcode kLaunch = 1;   // brief
constexpr wire::Opcode kMark = 2;     // brief
constexpr wire::Opcode kLengthy = 3;  // for the loop thread only
constexpr wire::Opcode kBroken = 4;   // brief, and against the protocol

/// Does the work of `on_launch`, and remembers the calls and their threads.
class Calls final : public CallHandler {
 public:
  Result<void> handle_call(Executor::Loop&, Replies&, wire::Opcode opcode, std::span<const std::byte>,
                           std::uint64_t) override {
    if (opcode == kBroken) return Error{"that is no call"};
    if (opcode == kLaunch) on_launch();
    if (std::this_thread::get_id() == test_) ++on_test_thread;
    ++handled;
    return {};
  }
  bool is_brief(wire::Opcode opcode) const override { return opcode != kLengthy; }

  std::function<void()> on_launch = [] {};
  std::atomic<int> handled{0};
  std::atomic<int> on_test_thread{0};

 private:
  const std::thread::id test_ = std::this_thread::get_id();
};

/// The test plays the driver's thread, which ends commands and stands in, and the program.
class WorkerTest : public ExecutorTest {
 protected:
  WorkerTest() {
    executor.set_stand_in(&worker);
    calls.on_launch = [this] { enqueue(2 + ++launches); };
  }

  void send(wire::Opcode opcode) {
    ASSERT_NE(requests.reserve(0), nullptr);
    requests.publish(opcode, 0, 0);
    ring::ring(segment.header().worker_bell);
  }
  /// Arms the bell, as the loop thread does when it goes to sleep.
  void arm() { segment.header().worker_bell.word |= ring::Doorbell::kSleeper; }
  bool is_rung_for_loop() const {
    return (segment.header().worker_bell.word & ring::Doorbell::kSleeper) == 0;
  }

  int launches = 0;
  ring::RingProducer requests{segment.requests()};
  Calls calls;
  Worker worker{segment, executor, calls, Processors::our_cpus};
};

TEST_F(WorkerTest, AStandInServesTheNextLaunchAndWakesNobody) {
  come_back_quickly();
  arm();
  send(kLaunch);
  send(kMark);
  device.complete_one();
  EXPECT_EQ(calls.on_test_thread, 2);
  EXPECT_EQ(device.in_flight(), 1U) << "the launch was issued";
  EXPECT_FALSE(is_rung_for_loop());
  EXPECT_TRUE(executor.helm().try_take()) << "it is let go of";
}

TEST_F(WorkerTest, AStandInServesNoFloodWhileTheDeviceHasWork) {
  come_back_quickly();
  arm();
  for (int i = 0; i < 60; ++i) {
    send(kLaunch);
    send(kMark);
  }
  device.complete_one();
  EXPECT_GT(device.in_flight(), 0U);
  EXPECT_LT(calls.handled, 120);
  EXPECT_TRUE(is_rung_for_loop()) << "the rest is the loop thread's";
}

/// The number of commands that the device has of twelve launches sent at once, whenever a launch is read.
class BatchTest : public WorkerTest {
 protected:
  BatchTest() {
    calls.on_launch = [this] {
      seen.push_back(device.in_flight());
      enqueue(2 + ++launches);
      if (launches == 12) segment.close();
    };
    come_back_quickly();
  }

  /// The numbers seen by a loop thread for a device that runs commands on these processors.
  std::vector<std::size_t> seen_on(Processors processors) {
    Worker other{segment, executor, calls, processors};
    executor.set_stand_in(&other);
    device.complete_one();
    for (int i = 0; i < 12; ++i) send(kLaunch);
    EXPECT_TRUE(other.run());
    executor.set_stand_in(nullptr);
    return seen;
  }

  std::vector<std::size_t> seen;
  const std::vector<std::size_t> all_read_first = std::vector<std::size_t>(12, 0);
};

TEST_F(BatchTest, ADeviceBeginsBeforeTheLoopThreadReadsOn) {
  const std::vector<std::size_t> first_few_then_many = {0, 1, 1, 1, 1, 5, 5, 5, 5, 5, 5, 5};
  EXPECT_EQ(seen_on(Processors::the_devices_own), first_few_then_many);
}

TEST_F(BatchTest, OnOurCpusAllIsReadFirst) {
  EXPECT_EQ(seen_on(Processors::our_cpus), all_read_first);
}

TEST_F(BatchTest, OnOtherCpusAllIsReadFirst) {
  EXPECT_EQ(seen_on(Processors::other_cpus), all_read_first);
}

TEST_F(WorkerTest, ADeviceThatTakesNothingIsSeldomLookedAfter) {
  Worker beside_us{segment, executor, calls, Processors::the_devices_own};
  int looks = 0;
  const std::function<void()> count = [&] {
    ++looks;
    after_next_look_at_clock = count;
  };
  after_next_look_at_clock = count;
  calls.on_launch = [this] {
    enqueue(++launches);
    if (launches == 30) segment.close();
  };
  for (int i = 0; i < 30; ++i) send(kLaunch);
  EXPECT_TRUE(beside_us.run());
  EXPECT_EQ(device.in_flight(), 0U) << "nobody has granted a turn";
  EXPECT_LE(looks, 10) << "two each after 1, 5, 25 and all commands, and not after each";
}

/// A device with processors of its own, and the command of a program that comes back quickly.
class FreeingTest : public WorkerTest {
 protected:
  FreeingTest() {
    executor.set_stand_in(nullptr);  // as a GPU's driver has none
    come_back_quickly();
    device.complete_one();
    now += 10us;
    const auto command = std::make_shared<FakeCommand>(device, lane, 3);
    ended = command;
    EXPECT_TRUE(executor.enqueue(command, {}, {}));
    loop.pump();
  }

  std::weak_ptr<FakeCommand> ended;
  Worker beside_us{segment, executor, calls, Processors::the_devices_own};
};

TEST_F(FreeingTest, NothingIsFreedBeforeTheNextCallOfAProgramThatComesBack) {
  device.complete_one();
  bool there = false;
  calls.on_launch = [&] {
    there = !ended.expired();
    segment.close();
  };
  after_next_look_at_clock = [this] { send(kLaunch); };  // while the device is being served
  EXPECT_TRUE(beside_us.run());
  EXPECT_EQ(calls.handled, 1);
  EXPECT_TRUE(there);
}

TEST_F(FreeingTest, EndedCommandsAreFreedWhenTheProgramDoesNotComeBack) {
  device.complete_one();
  std::thread thread([this] { EXPECT_TRUE(beside_us.run()); });
  while (!ended.expired()) std::this_thread::yield();
  segment.close();
  thread.join();
}

TEST_F(FreeingTest, EndedCommandsAreFreedWhenTheProgramsNextCallNeedsNoDevice) {
  device.complete_one();
  after_next_look_at_clock = [this] { send(kMark); };
  std::thread thread([this] { EXPECT_TRUE(beside_us.run()); });
  while (!ended.expired()) std::this_thread::yield();
  segment.close();
  thread.join();
  EXPECT_EQ(calls.handled, 1);
}

TEST_F(FreeingTest, EndedCommandsAreFreedInTheEndWhileTheProgramKeepsComingBack) {
  device.complete_one();
  std::vector<bool> there;
  const std::function<void()> come_back = [&] {
    after_next_look_at_clock = come_back;
    send(kLaunch);
  };
  calls.on_launch = [&] {
    there.push_back(!ended.expired());
    enqueue(3 + static_cast<int>(there.size()));
    if (there.size() == 40) segment.close();
  };
  after_next_look_at_clock = come_back;
  EXPECT_TRUE(beside_us.run());
  ASSERT_GE(there.size(), 40U);
  EXPECT_TRUE(there.front());
  EXPECT_FALSE(there.back());
}

TEST_F(WorkerTest, CallsThatAreNotBriefAreLeftToTheLoopThread) {
  come_back_quickly();
  arm();
  send(kMark);
  send(kLengthy);
  send(kMark);
  device.complete_one();
  EXPECT_EQ(calls.handled, 1);
  EXPECT_TRUE(is_rung_for_loop());
  std::thread thread([this] { EXPECT_TRUE(worker.run()); });
  while (calls.handled < 3) std::this_thread::yield();
  EXPECT_EQ(calls.on_test_thread, 1);
  segment.close();
  thread.join();
}

TEST_F(WorkerTest, AStandInWithoutWorkLeavesAndWakesNobody) {
  come_back_quickly();
  arm();
  device.complete_one();
  EXPECT_EQ(calls.handled, 0);
  EXPECT_FALSE(is_rung_for_loop());
  send(kMark);
  EXPECT_TRUE(is_rung_for_loop()) << "what comes later is the loop thread's again";
}

/// A program that spins sees the end of its command, and sends the next one, before the driver's thread can
/// do anything else.
class QuickProgramTest : public WorkerTest {
 protected:
  void end_a_command_that_the_program_sees_at_once() {
    come_back_quickly();
    arm();
    const auto command = std::make_shared<FakeCommand>(device, lane, 0);
    command->before_end_shows = [this] {
      woke_the_loop = !is_rung_for_loop();
      send(kLaunch);
    };
    ASSERT_TRUE(executor.enqueue(command, {}, {}));
    loop.pump();
    device.complete_one();  // the command before
    before_ending();
    device.complete_one();
  }

  std::function<void()> before_ending = [] {};
  bool woke_the_loop = false;
};

TEST_F(QuickProgramTest, WakesNobodyWhereSomebodyWillStandIn) {
  end_a_command_that_the_program_sees_at_once();
  EXPECT_FALSE(woke_the_loop);
  EXPECT_EQ(calls.on_test_thread, 1);
  EXPECT_EQ(device.in_flight(), 1U);
  EXPECT_FALSE(is_rung_for_loop());
}

TEST_F(QuickProgramTest, IsTheLoopThreadsIfNobodyStandsInAfterAll) {
  before_ending = [this] { turns[0].state = static_cast<std::uint32_t>(session::TurnState::busy_asked); };
  end_a_command_that_the_program_sees_at_once();
  EXPECT_EQ(calls.handled, 0);
  EXPECT_TRUE(is_rung_for_loop());
  EXPECT_TRUE(executor.helm().try_take()) << "it is let go of";
}

TEST_F(WorkerTest, ABrokenCallOfAStandInEndsTheSession) {
  come_back_quickly();
  arm();
  send(kBroken);
  device.complete_one();
  EXPECT_TRUE(is_rung_for_loop());
  const auto served = worker.run();
  ASSERT_FALSE(served);
  EXPECT_EQ(served.error().message, "that is no call");
  EXPECT_TRUE(segment.closed());
}

TEST_F(WorkerTest, NobodyStandsInForALoopThatHasEnded) {
  come_back_quickly();
  segment.close();
  EXPECT_TRUE(worker.run());
  send(kMark);
  device.complete_one();
  EXPECT_EQ(calls.handled, 0);
}

/// One thread plays the program and waits for each launch, one the driver's thread, and one the loop.
TEST(WorkerThreads, EveryCallIsServedOnceWhoeverServesIt) {
  constexpr int kRounds = harness::rounds(20'000);
  ring::Segment segment = small_segment();
  std::array<session::DeviceTurn, 1> turns{};
  FakeDevice device{turns[0]};
  IssueSettings settings;
  settings.turn = {6ms, 5};
  settings.knock = [&](wire::DeviceIndex) {
    std::uint32_t wanting = static_cast<std::uint32_t>(session::TurnState::wanting);
    turns[0].state.compare_exchange_strong(wanting, static_cast<std::uint32_t>(session::TurnState::held));
    ring::ring(segment.header().worker_bell);
    return true;
  };
  Executor executor{segment, turns, settings};
  const auto lane = std::make_shared<Lane>(true, 0);
  std::atomic<int> launched{0};
  std::atomic<int> by_driver{0};
  thread_local bool is_driver = false;
  Calls calls;
  calls.on_launch = [&] {
    const int name = ++launched;
    if (is_driver) ++by_driver;
    EXPECT_TRUE(executor.enqueue(std::make_shared<FakeCommand>(device, lane, name), {}, {}));
  };
  Worker worker{segment, executor, calls, Processors::our_cpus};
  executor.set_stand_in(&worker);

  std::atomic<int> ended{0};
  std::thread driver([&] {
    is_driver = true;
    while (ended < kRounds) {
      if (device.in_flight() == 0) {
        std::this_thread::yield();
        continue;
      }
      ++ended;  // before the report: the program may come back during the report
      EXPECT_TRUE(device.complete_one());
    }
  });
  std::thread thread([&] { EXPECT_TRUE(worker.run()); });
  ring::RingProducer requests{segment.requests()};
  for (int round = 1; round <= kRounds; ++round) {
    for (const wire::Opcode opcode : {kLaunch, round % 7 == 0 ? kLengthy : kMark}) {
      while (requests.reserve(0) == nullptr) std::this_thread::yield();
      requests.publish(opcode, 0, 0);
      ring::ring(segment.header().worker_bell);
    }
    while (ended < round) std::this_thread::yield();
  }
  driver.join();
  while (calls.handled < 2 * kRounds) std::this_thread::yield();
  segment.close();
  thread.join();
  EXPECT_EQ(launched, kRounds);
  EXPECT_EQ(calls.handled, 2 * kRounds);
  EXPECT_GT(by_driver, 0);
  std::vector<int> expected(kRounds);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(device.issued(), expected);
}

}  // namespace
}  // namespace fairgv::vgpu
