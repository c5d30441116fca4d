// The scheduler of streams, without a device: order, dependencies, faults.
#include <algorithm>
#include <atomic>
#include <latch>
#include <mutex>
#include <random>
#include <thread>

#include "tests/cuda/softcuda/stream/scheduler_fixture.hpp"
#include "tests/harness/seed.hpp"

TEST_F(SoftCudaScheduler, RandomGraphsKeepEveryPromisedOrder) {
  std::mt19937_64 random(fairgv::harness::printed_seed());
  struct Step {
    std::atomic<int> began{-1}, ended{-1};
    std::vector<std::size_t> behind;
  };
  constexpr std::size_t kSteps = 1500;
  std::vector<Step> steps(kSteps);
  std::vector<std::shared_ptr<Operation>> operations(kSteps);
  std::atomic<int> clock = 0;
  std::vector<std::shared_ptr<Stream>> streams{scheduler_->legacy(group_)};
  for (int number = 0; number < 6; ++number) {
    streams.push_back(make(number < 3 ? StreamKind::blocking : StreamKind::independent));
  }
  constexpr std::size_t kNone = kSteps;
  std::vector<std::size_t> last(streams.size(), kNone);
  for (std::size_t at = 0; at < kSteps; ++at) {
    const std::size_t which = random() % (at % 7 == 0 ? 1 : streams.size());
    std::vector<std::shared_ptr<Operation>> events;
    const auto behind = [&](std::size_t other) {
      if (other != kNone) steps[at].behind.push_back(other);
    };
    behind(last[which]);
    if (which == 0) {
      for (std::size_t other = 1; other <= 3; ++other) behind(last[other]);
    } else if (which <= 3) {
      behind(last[0]);
    }
    if (at > 0 && random() % 3 == 0) {
      const std::size_t event = random() % at;
      behind(event);
      events.push_back(operations[event]);
    }
    last[which] = at;
    const auto work = [&step = steps[at], &clock] {
      step.began.store(clock.fetch_add(1));
      step.ended.store(clock.fetch_add(1));
      return CUDA_SUCCESS;
    };
    operations[at] = scheduler_->submit(*streams[which], work, events);
  }
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->synchronize(*group_));
  for (std::size_t at = 0; at < kSteps; ++at) {
    ASSERT_TRUE(operations[at]->done());
    for (const std::size_t before : steps[at].behind) {
      ASSERT_LT(steps[before].ended.load(), steps[at].began.load()) << before << " before " << at;
    }
  }
}

TEST_F(SoftCudaScheduler, CallersRunTheirWorkThemselvesInTheirTurn) {
  const auto stream = make(StreamKind::blocking);
  std::latch release(1);
  std::atomic<bool> first = false;
  scheduler_->submit(*stream, [&] {
    release.wait();
    first = true;
    return CUDA_SUCCESS;
  });
  std::thread other([&] { release.count_down(); });
  std::thread::id ran_on;
  bool was_second = false;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, scheduler_->run(*stream, [&] {
    ran_on = std::this_thread::get_id();
    was_second = first;
    return CUDA_ERROR_INVALID_VALUE;
  }));
  other.join();
  EXPECT_EQ(std::this_thread::get_id(), ran_on);
  EXPECT_TRUE(was_second);
  EXPECT_EQ(CUDA_SUCCESS, group_->fault());  // an error of the call's own is no fault
}

TEST_F(SoftCudaScheduler, FaultStopsWhatComesAfterIt) {
  const auto stream = make(StreamKind::independent);
  std::atomic<int> ran = 0;
  std::atomic<int> told = 0;
  scheduler_->submit(*stream, [] { return CUDA_ERROR_LAUNCH_FAILED; });
  const auto after = scheduler_->submit(*stream, [&] {
    ++ran;
    return CUDA_SUCCESS;
  });
  const auto marker = scheduler_->submit(*stream, nullptr);
  scheduler_->submit(
      *stream,
      [&] {
        ++told;
        return CUDA_SUCCESS;
      },
      {}, true);
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, scheduler_->synchronize(*stream));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, after->result());
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, marker->result());
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, scheduler_->query(*stream));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, scheduler_->run(*stream, [] { return CUDA_SUCCESS; }));
  EXPECT_EQ(0, ran.load());
  EXPECT_EQ(1, told.load());
}

TEST_F(SoftCudaScheduler, LongChainsOfMarkersDoNotRecurse) {
  const auto stream = make(StreamKind::blocking);
  std::latch release(1);
  scheduler_->submit(*stream, [&] {
    release.wait();
    return CUDA_SUCCESS;
  });
  for (int number = 0; number < 100'000; ++number) scheduler_->submit(*stream, nullptr);
  EXPECT_EQ(CUDA_ERROR_NOT_READY, scheduler_->query(*stream));
  release.count_down();
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->synchronize(*stream));
}

TEST_F(SoftCudaScheduler, ShutdownWaitsForWhatRunsAndStartsNothingMore) {
  const auto stream = make(StreamKind::independent);
  Scheduler other;
  ASSERT_EQ(CUDA_SUCCESS, other.start());
  const auto group = other.make_group(nullptr);
  const auto lone = other.make_stream(group, StreamKind::independent, 0, 0);
  std::latch running(1);
  std::latch release(1);
  std::atomic<int> finished = 0;
  other.submit(*lone, [&] {
    running.count_down();
    release.wait();
    ++finished;
    return CUDA_SUCCESS;
  });
  other.submit(*lone, [&] {
    ++finished;
    return CUDA_SUCCESS;
  });
  running.wait();
  other.shutdown(std::chrono::milliseconds(0));  // no patience: running work goes on
  EXPECT_EQ(0, finished.load());
  release.count_down();
  other.shutdown(std::chrono::seconds(10));
  EXPECT_EQ(1, finished.load());
  other.dissolve(*group);
}

/// A device's queue: work that was begun on it, and that ends when the test says so.
class SoftCudaBegun : public SoftCudaScheduler {
 protected:
  std::shared_ptr<Operation> launch(const std::shared_ptr<Stream>& stream, CUresult code = CUDA_SUCCESS,
                                    bool held = false) {
    const int number = submitted_++;
    return scheduler_->submit(
        stream,
        [this, number, code](Stream&, const std::shared_ptr<Operation>& operation) {
          const std::lock_guard guard(lock_);
          order_.push_back(number);
          if (code == CUDA_SUCCESS) queue_.push_back(operation);
          return code;
        },
        held);
  }
  std::size_t begun() {
    const std::lock_guard guard(lock_);
    return order_.size();
  }
  /// Ends the oldest command; false: there is none.
  bool end_one(CUresult result = CUDA_SUCCESS) {
    std::shared_ptr<Operation> oldest;
    {
      const std::lock_guard guard(lock_);
      if (queue_.empty()) return false;
      oldest = queue_.front();
      queue_.erase(queue_.begin());
    }
    scheduler_->ended(oldest, result);
    return true;
  }

  std::mutex lock_;  // guards the members below
  std::vector<int> order_;
  std::vector<std::shared_ptr<Operation>> queue_;
  int submitted_ = 0;  // used by the test's thread alone
};

TEST_F(SoftCudaBegun, LaunchesOfAStreamAreBegunBeforeTheOnesBeforeThemHaveEnded) {
  const auto stream = make(StreamKind::blocking);
  for (int at = 0; at < 10; ++at) launch(stream);
  EXPECT_EQ(order_, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  const auto marker = scheduler_->submit(*stream, nullptr);
  for (int at = 0; at < 10; ++at) {
    EXPECT_FALSE(marker->done());
    EXPECT_EQ(CUDA_ERROR_NOT_READY, scheduler_->query(*stream));
    EXPECT_TRUE(end_one());
  }
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->synchronize(*stream));
  EXPECT_TRUE(marker->done());
}

TEST_F(SoftCudaBegun, AllOfALongStreamIsBegunInOrderAndNotTooMuchAtATime) {
  const auto stream = make(StreamKind::blocking);
  constexpr int kLaunches = 1000;
  for (int at = 0; at < kLaunches; ++at) launch(stream);
  EXPECT_EQ(begun(), 64U);
  for (int ended = 0; ended < kLaunches;) {
    if (end_one()) {
      ++ended;
    } else {
      std::this_thread::yield();  // an executor begins the next
    }
    const std::lock_guard guard(lock_);
    ASSERT_LE(queue_.size(), 64U);
  }
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->synchronize(*stream));
  ASSERT_EQ(order_.size(), std::size_t{kLaunches});
  EXPECT_TRUE(std::is_sorted(order_.begin(), order_.end()));
}

TEST_F(SoftCudaBegun, AHeldLaunchIsWaitedForByNobodyUntilItIsLetGoOf) {
  const auto stream = make(StreamKind::blocking);
  const auto other = make(StreamKind::independent);
  const auto held = launch(stream, CUDA_SUCCESS, true);
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->synchronize(*group_))
      << "otherwise the thread that lets the launch go could free nothing";
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->synchronize(*stream));
  EXPECT_FALSE(held->done());
  launch(other);
  std::thread waiting([&] { scheduler_->synchronize(*group_); });
  held->let_go();
  EXPECT_TRUE(end_one());
  EXPECT_TRUE(held->done());
  EXPECT_TRUE(end_one());
  waiting.join();
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->synchronize(*group_));
}

TEST_F(SoftCudaBegun, OtherWorkOfTheStreamWaitsForTheEnd) {
  const auto stream = make(StreamKind::blocking);
  launch(stream);
  std::atomic<bool> ran = false;
  scheduler_->submit(*stream, [&ran] {
    ran = true;
    return CUDA_SUCCESS;
  });
  launch(stream);
  EXPECT_EQ(begun(), 1U) << "the work between has not been done";
  EXPECT_FALSE(ran);
  EXPECT_TRUE(end_one());
  while (begun() < 2) std::this_thread::yield();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(end_one());
}

TEST_F(SoftCudaBegun, TheDefaultStreamWaitsForTheEndInOthers) {
  const auto stream = make(StreamKind::blocking);
  launch(stream);
  launch(scheduler_->legacy(group_));
  EXPECT_EQ(begun(), 1U);
  EXPECT_TRUE(end_one());
  while (begun() < 2) std::this_thread::yield();
  EXPECT_TRUE(end_one());
}

TEST_F(SoftCudaBegun, WhatCannotBeBegunIsAFaultAndNothingFollows) {
  const auto stream = make(StreamKind::blocking);
  launch(stream, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  launch(stream);
  EXPECT_EQ(begun(), 1U);
  EXPECT_EQ(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, scheduler_->synchronize(*stream));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, group_->fault());
}

// The worker watches the ends of most launches: if the next launch waited for such an end, each would cost a
// switch of threads.
TEST_F(SoftCudaBegun, ALaunchIsBegunBehindAPromptFunctionThatHasNotRun) {
  const auto stream = make(StreamKind::blocking);
  std::vector<CUresult> told;
  launch(stream);
  scheduler_->submit_prompt(*stream, [&](CUresult fault) { told.push_back(fault); });
  launch(stream);
  EXPECT_EQ(begun(), 2U);
  EXPECT_TRUE(told.empty());
  EXPECT_TRUE(end_one());
  EXPECT_EQ(told, (std::vector<CUresult>{CUDA_SUCCESS}));
  EXPECT_TRUE(end_one());
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->synchronize(*stream));
}

TEST_F(SoftCudaBegun, PromptFunctionsRunOnTheThreadThatEndsWhatIsBeforeThem) {
  const auto stream = make(StreamKind::blocking);
  std::vector<CUresult> told;
  std::thread::id where;
  const auto listen = [&](CUresult fault) {
    told.push_back(fault);
    where = std::this_thread::get_id();
  };
  scheduler_->submit_prompt(*stream, listen);
  EXPECT_EQ(told, (std::vector<CUresult>{CUDA_SUCCESS})) << "there is nothing before it";
  launch(stream);
  scheduler_->submit_prompt(*stream, listen);
  EXPECT_EQ(told.size(), 1U);
  EXPECT_TRUE(end_one(CUDA_ERROR_ILLEGAL_ADDRESS));
  EXPECT_EQ(told, (std::vector<CUresult>{CUDA_SUCCESS, CUDA_ERROR_ILLEGAL_ADDRESS}));
  EXPECT_EQ(where, std::this_thread::get_id());
}

// Work so short that it ends while it is begun, unless the device is to do it in its turn.
TEST_F(SoftCudaBegun, WhatEndsWhileItIsBegunLetsTheNextBeginBehindIt) {
  const auto stream = make(StreamKind::blocking);
  EXPECT_FALSE(scheduler_->has_begun(*stream));
  std::vector<bool> had_begun;
  const auto brief = [this, &had_begun](Stream& to, const std::shared_ptr<Operation>& operation) {
    had_begun.push_back(scheduler_->has_begun(to));
    if (had_begun.back()) {
      const std::lock_guard guard(lock_);
      queue_.push_back(operation);
    } else {
      scheduler_->ended(operation, CUDA_SUCCESS);
    }
    return CUDA_SUCCESS;
  };
  scheduler_->submit(stream, brief);
  scheduler_->submit(stream, brief);
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->query(*stream));
  launch(stream);
  scheduler_->submit(stream, brief);
  launch(stream);
  EXPECT_EQ(begun(), 2U) << "a launch is begun behind it";
  for (int at = 0; at < 3; ++at) {
    EXPECT_TRUE(scheduler_->has_begun(*stream));
    EXPECT_EQ(CUDA_ERROR_NOT_READY, scheduler_->query(*stream));
    EXPECT_TRUE(end_one());
  }
  EXPECT_EQ(CUDA_SUCCESS, scheduler_->synchronize(*stream));
  EXPECT_FALSE(scheduler_->has_begun(*stream));
  EXPECT_EQ(had_begun, (std::vector<bool>{false, false, true}));
}
