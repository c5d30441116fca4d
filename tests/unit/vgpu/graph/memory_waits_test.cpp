// Waiting for memory that is about to be freed, over an executor whose commands end when the test says so.
#include "runtime/vgpu/memory/memory_waits.hpp"
#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

/// Uses an object that the program has released: the object goes with the command.
class User final : public FakeCommand {
 public:
  User(FakeDevice& device, std::shared_ptr<Lane> lane, MemoryCharge charge)
      : FakeCommand(device, std::move(lane), 0), charge_(std::move(charge)) {}

 private:
  MemoryCharge charge_;
};

/// Outlives the executor, whose commands give memory back when they are destroyed.
struct WithAccount {
  static constexpr std::uint64_t kLimit = 100 * kMiB;

  std::uint64_t granted = 0;
  std::function<void()> when_asked;  // runs at the next look, once
  session::LedgerAnswer answer(const session::LedgerRequest& request) {
    switch (request.kind) {
      case session::LedgerRequest::Kind::look:
        if (const auto happens = std::exchange(when_asked, {})) happens();
        return {kLimit - granted};
      case session::LedgerRequest::Kind::charge:
        granted += request.bytes;
        break;
      case session::LedgerRequest::Kind::give_back:
        granted -= request.bytes;
    }
    return {request.bytes};
  }
  MemoryAccount account{1, [this](const session::LedgerRequest& request) { return answer(request); }};
};

struct MemoryWaitsTest : WithAccount, ExecutorTest {
  static constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kDevice = 0b01;

  MemoryCharge object(std::uint64_t bytes) {
    return std::move(account.charge(kDevice, bytes, false).value().value());
  }
  /// A command with an object of so many bytes that is released while the command uses it.
  void use_and_release(std::uint64_t bytes, std::vector<wire::EventId> wait_list = {}) {
    auto charge = object(bytes);
    charge.expect();
    ASSERT_TRUE(executor.enqueue(std::make_shared<User>(device, lane, std::move(charge)), {}, wait_list));
  }
  /// The status of the answer so far.
  std::int32_t await(std::uint64_t bytes, wire::EventId answer, bool more = false) {
    EXPECT_TRUE(waits.await(loop, {answer, kDevice, bytes, more ? 1U : 0U}));
    return status(answer);
  }

  MemoryWaits waits{executor, &account};
};

TEST_F(MemoryWaitsTest, ACommandThatEndsByItselfIsWaitedFor) {
  use_and_release(90 * kMiB);
  grant_now();
  ASSERT_EQ(await(80 * kMiB, event(1)), kQueued);
  device.complete_one();
  EXPECT_EQ(status(event(1)), kQueued) << "told before the memory is back";
  EXPECT_TRUE(loop.needs_pump()) << "nobody would free it";
  loop.pump();
  EXPECT_EQ(status(event(1)), kComplete);
  EXPECT_EQ(granted, 0U);
}

TEST_F(MemoryWaitsTest, MemoryThatComesBackWhileTheWaitBeginsIsNotMissed) {
  use_and_release(90 * kMiB);
  grant_now();
  when_asked = [this] { device.complete_one(); };
  EXPECT_EQ(await(80 * kMiB, event(1)), kComplete);
}

TEST_F(MemoryWaitsTest, TheFirstThatGivesEnoughEndsTheWait) {
  use_and_release(60 * kMiB);
  use_and_release(30 * kMiB);
  use_and_release(10 * kMiB);
  grant_now();
  ASSERT_EQ(await(70 * kMiB, event(1)), kQueued);
  device.complete_one();
  loop.pump();
  EXPECT_EQ(status(event(1)), kQueued) << "60 MiB are too few";
  device.complete_one();
  loop.pump();
  EXPECT_EQ(status(event(1)), kComplete);
  EXPECT_EQ(device.in_flight(), 1U);
}

TEST_F(MemoryWaitsTest, MemoryThatAUserEventHoldsIsNotOnItsWay) {
  ASSERT_TRUE(executor.create_user_event(event(7)));
  use_and_release(90 * kMiB, {event(7)});
  loop.pump();
  EXPECT_EQ(await(80 * kMiB, event(1)), wire::kNothingOnItsWay);
  EXPECT_FALSE(loop.needs_pump());
}

TEST_F(MemoryWaitsTest, MemoryThatTheProgramHoldsIsNotWaitedFor) {
  const auto held = object(50 * kMiB);
  use_and_release(40 * kMiB);
  grant_now();
  EXPECT_EQ(await(60 * kMiB, event(1)), wire::kNothingOnItsWay) << "there will be 50 MiB at most";
  EXPECT_EQ(await(50 * kMiB, event(2)), kQueued);
}

TEST_F(MemoryWaitsTest, WhenAllThatMovesHasEndedTheWaitIsInVain) {
  ASSERT_TRUE(executor.create_user_event(event(7)));
  enqueue(1);
  use_and_release(90 * kMiB, {event(7)});
  grant_now();
  ASSERT_EQ(await(80 * kMiB, event(1)), kQueued);
  device.complete_one();
  loop.pump();
  EXPECT_EQ(status(event(1)), wire::kNothingOnItsWay);
}

TEST_F(MemoryWaitsTest, MemoryThatCameBackSinceTheRefusalIsReportedAtOnceAndOnce) {
  object(10 * kMiB).release();
  EXPECT_EQ(await(50 * kMiB, event(1)), kComplete);
  EXPECT_EQ(await(50 * kMiB, event(2)), wire::kNothingOnItsWay)
      << "a driver's refusal would be asked about for ever";
}

TEST_F(MemoryWaitsTest, MemoryThatTheFrontEndIsYetToReleaseIsWaitedForIfItSaysSo) {
  enqueue(1);
  grant_now();
  const auto held = object(90 * kMiB);
  ASSERT_EQ(await(80 * kMiB, event(1), true), kQueued);
  device.complete_one();
  loop.pump();
  EXPECT_EQ(status(event(1)), wire::kNothingOnItsWay);
}

TEST_F(MemoryWaitsTest, AWaitThatNoFrontEndAsksForBreaksTheProtocol) {
  EXPECT_FALSE(waits.await(loop, {event(1), 0b10, 1, 0}));
  EXPECT_FALSE(waits.await(loop, {event(1), 0, 1, 0}));
  use_and_release(90 * kMiB);
  grant_now();
  ASSERT_EQ(await(80 * kMiB, event(1)), kQueued);
  EXPECT_FALSE(waits.await(loop, {event(2), kDevice, 1, 0})) << "a second wait beside the first";
}

TEST_F(MemoryWaitsTest, WhereMemoryIsNotCountedNothingIsOnItsWay) {
  MemoryWaits uncounted(executor, nullptr);
  EXPECT_TRUE(uncounted.await(loop, {event(1), kDevice, 1, 0}));
  EXPECT_EQ(status(event(1)), wire::kNothingOnItsWay);
}

}  // namespace
}  // namespace fairgv::vgpu
