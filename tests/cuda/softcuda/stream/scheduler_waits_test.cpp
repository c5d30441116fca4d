// The scheduler's waits for memory: until when they hold up their stream, and how they end otherwise.
#include <atomic>

#include "tests/cuda/softcuda/stream/scheduler_fixture.hpp"

TEST_F(SoftCudaScheduler, WaitsForMemoryHoldUpTheirStreamUntilTheirTestIsPassed) {
  const auto waiting = make(StreamKind::independent);
  const auto free = make(StreamKind::independent);
  std::atomic<int> ran = 0;
  std::atomic<bool> go = false;
  const auto count = [&] {
    ++ran;
    return CUDA_SUCCESS;
  };
  constexpr int kWaits = 10'000;
  for (int number = 0; number < kWaits; ++number) {
    scheduler_->submit_wait(*waiting, [&] { return go.load(); });
  }
  scheduler_->submit(*waiting, count);
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->run(*free, count));
  EXPECT_EQ(1, ran.load());
  EXPECT_EQ(CUDA_ERROR_NOT_READY, scheduler_->query(*waiting));
  go = true;
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->synchronize(*waiting));
  EXPECT_EQ(2, ran.load());
}

TEST_F(SoftCudaScheduler, WaitsForMemoryEndWithAFaultOrWhenTheyAreGivenUp) {
  const auto never = [] { return false; };
  std::atomic<int> ran = 0;
  const auto count = [&] {
    ++ran;
    return CUDA_SUCCESS;
  };
  for (const bool faulty : {false, true}) {
    const auto group = scheduler_->make_group(nullptr);
    const auto waiting = scheduler_->make_stream(group, StreamKind::independent, 0, 0);
    const auto other = scheduler_->make_stream(group, StreamKind::independent, 0, 0);
    scheduler_->submit_wait(*waiting, never);
    scheduler_->submit(*waiting, count);
    if (faulty) {
      scheduler_->submit(*other, [] { return CUDA_ERROR_LAUNCH_FAILED; });
    } else {
      scheduler_->give_up_waits(*group);
    }
    const CUresult expected = faulty ? CUDA_ERROR_LAUNCH_FAILED : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    EXPECT_EQ(expected, scheduler_->synchronize(*waiting));
    scheduler_->submit_wait(*other, never);
    EXPECT_EQ(expected, scheduler_->synchronize(*other)) << "a later wait";
    scheduler_->dissolve(*group);
  }
  EXPECT_EQ(0, ran.load());
}

TEST_F(SoftCudaScheduler, ShutdownDoesNotWaitForWaitsForMemory) {
  Scheduler other;
  ASSERT_EQ(CUDA_SUCCESS, other.start());
  const auto group = other.make_group(nullptr);
  const auto stream = other.make_stream(group, StreamKind::independent, 0, 0);
  const auto wait = other.submit_wait(*stream, [] { return false; });
  other.shutdown(std::chrono::minutes(10));
  EXPECT_FALSE(wait->done());
  other.dissolve(*group);
}
