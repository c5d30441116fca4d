// The ends of commands as the worker learns of them over a driver that offers nothing better than events.
#include "runtime/vgpu/cuda/end_watcher.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/objects.hpp"
#include "tests/harness/process_cpu.hpp"

namespace fairgv::vgpu::cuda {
namespace {

const Driver& driver() {
  static const Driver opened = Driver::open(FAIRGV_SOFTCUDA, nullptr).value();
  return opened;
}

/// A function of the software driver that the worker does not need.
template <class Function>
Function* beside(const char* name) {
  void* const library = ::dlopen(FAIRGV_SOFTCUDA, RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

/// Holds up a stream until it is opened.
class Gate {
 public:
  void close(const Stream& stream) {
    auto* const launch = beside<decltype(cuLaunchHostFunc)>("cuLaunchHostFunc");
    ASSERT_EQ(launch(
                  stream.handle, [](void* gate) { static_cast<Gate*>(gate)->opened_.wait(); }, this),
              CUDA_SUCCESS);
  }
  void open() { opener_.set_value(); }

 private:
  std::promise<void> opener_;
  std::shared_future<void> opened_{opener_.get_future()};
};

/// The reported ends, in order.
class Told {
 public:
  struct Subject {
    Told* told;
    int number;
  };

  static void CUDA_CB end(CUstream, CUresult code, void* subject) {
    const auto [told, number] = *static_cast<Subject*>(subject);
    const std::lock_guard lock(told->mutex_);
    told->numbers_.push_back(code == CUDA_SUCCESS ? number : -number);
    beside<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent")(&told->current_);
    told->come_.notify_all();
  }

  Subject* subject(int number) {
    subjects_.push_back(std::make_unique<Subject>(Subject{this, number}));
    return subjects_.back().get();
  }
  std::vector<int> numbers() const {
    const std::lock_guard lock(mutex_);
    return numbers_;
  }
  /// The context that was current where the latest end was reported.
  CUcontext current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }
  /// False: the reports do not come.
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return come_.wait_for(lock, std::chrono::seconds(60), [&] { return numbers_.size() >= count; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable come_;
  std::vector<int> numbers_;
  CUcontext current_ = nullptr;
  std::vector<std::unique_ptr<Subject>> subjects_;
};

/// Parameter: the time for which the watcher looks without a pause.
struct Ends : testing::TestWithParam<EndWatcher::Duration> {
  void SetUp() override {
    ASSERT_FALSE(driver().devices().empty()) << "the software driver needs an OpenCL device";
    context = std::make_shared<Context>(driver().functions(), driver().devices().front(), false);
    ASSERT_EQ(driver().functions().create_context(&context->handle, 0, context->device.handle), CUDA_SUCCESS);
    current_context() = nullptr;
    ASSERT_EQ(use(driver().functions(), context->handle), CUDA_SUCCESS);
  }

  std::unique_ptr<Stream> stream() const {
    auto made = std::make_unique<Stream>();
    made->context = context;
    EXPECT_EQ(driver().functions().cuStreamCreateWithPriority(&made->handle, CU_STREAM_NON_BLOCKING, 0),
              CUDA_SUCCESS);
    return made;
  }

  /// A stream that is held until the gate is opened.
  std::unique_ptr<Stream> held_stream() {
    auto made = stream();
    gate.close(*made);
    return made;
  }

  std::shared_ptr<Context> context;
  Gate gate;
  Told told;
};

TEST_P(Ends, AreToldInTheStreamsOrder) {
  const auto one = held_stream();
  EndWatcher watcher(driver().functions(), GetParam());
  std::vector<int> order;
  for (int i = 1; i <= 20; ++i) {
    ASSERT_EQ(watcher.watch(*one, &Told::end, told.subject(i)), CUDA_SUCCESS);
    order.push_back(i);
  }
  gate.open();
  ASSERT_TRUE(told.wait_for(20));
  EXPECT_EQ(told.numbers(), order);
}

// The reports from the free stream show that the watcher has looked at the held stream again.
TEST_P(Ends, AreNotToldBeforeAndHoldUpNoOtherStream) {
  const auto held = held_stream();
  const auto free = stream();
  EndWatcher watcher(driver().functions(), GetParam());
  ASSERT_EQ(watcher.watch(*held, &Told::end, told.subject(100)), CUDA_SUCCESS);
  std::vector<int> order;
  for (int i = 1; i <= 20; ++i) {
    ASSERT_EQ(watcher.watch(*free, &Told::end, told.subject(i)), CUDA_SUCCESS);
    ASSERT_TRUE(told.wait_for(static_cast<std::size_t>(i)));
    order.push_back(i);
  }
  EXPECT_EQ(told.numbers(), order);
  gate.open();
  ASSERT_TRUE(told.wait_for(21));
  EXPECT_EQ(told.numbers().back(), 100);
}

TEST_P(Ends, OneAfterTheOtherTakeOneEvent) {
  const auto one = stream();
  EndWatcher watcher(driver().functions(), GetParam());
  for (int i = 1; i <= 50; ++i) {
    ASSERT_EQ(watcher.watch(*one, &Told::end, told.subject(i)), CUDA_SUCCESS);
    ASSERT_TRUE(told.wait_for(static_cast<std::size_t>(i)));
  }
  EXPECT_EQ(one->spare_ends.size(), 1U);
}

// A program that was told of the last end may destroy the context, which must not be current in any thread
// then.
TEST_P(Ends, AreNotToldBeforeTheDriverHasPrinted) {
  static std::atomic<int> prints;
  prints = 0;
  Functions printing = driver().functions();
  printing.cuEventSynchronize = [](CUevent event) {
    ++prints;
    return driver().functions().cuEventSynchronize(event);
  };
  const auto one = stream();
  EndWatcher watcher(printing, GetParam());
  for (const bool may_print : {false, true}) {
    context->prints = may_print;
    std::promise<int> printed;
    const auto tell = [](CUstream, CUresult, void* to) {
      static_cast<std::promise<int>*>(to)->set_value(prints);
    };
    ASSERT_EQ(watcher.watch(*one, tell, &printed), CUDA_SUCCESS);
    EXPECT_EQ(printed.get_future().get(), may_print ? 1 : 0);
  }
}

TEST_P(Ends, LeaveTheirContextToWhoHasBeenTold) {
  const auto one = stream();
  EndWatcher watcher(driver().functions(), GetParam());
  ASSERT_EQ(watcher.watch(*one, &Told::end, told.subject(1)), CUDA_SUCCESS);
  ASSERT_TRUE(told.wait_for(1));
  EXPECT_EQ(told.numbers(), std::vector{1}) << "negative: the driver reported an error";
  EXPECT_EQ(told.current(), nullptr);
}

TEST_P(Ends, TheWatcherCanBeStoppedWhateverItWatches) {
  const auto held = held_stream();
  const auto free = stream();
  {
    EndWatcher watcher(driver().functions(), GetParam());
    ASSERT_EQ(watcher.watch(*held, &Told::end, told.subject(1)), CUDA_SUCCESS);
    ASSERT_EQ(watcher.watch(*free, &Told::end, told.subject(2)), CUDA_SUCCESS);
    ASSERT_TRUE(told.wait_for(1));  // so it has both events
  }
  {
    EndWatcher watcher(driver().functions(), GetParam());
    ASSERT_EQ(watcher.watch(*held, &Told::end, told.subject(3)), CUDA_SUCCESS);  // may not have begun
  }
  EXPECT_EQ(told.numbers(), std::vector{2});
  EXPECT_EQ(held->spare_ends.size(), 1U) << "the event is the stream's again, each time";
  gate.open();
  // The stream has not passed it yet.
  EXPECT_EQ(beside<decltype(cuStreamSynchronize)>("cuStreamSynchronize")(held->handle), CUDA_SUCCESS);
}

TEST_P(Ends, WaitingForNoneTakesNoProcessor) {
  const auto one = stream();
  EndWatcher watcher(driver().functions(), GetParam());
  ASSERT_EQ(watcher.watch(*one, &Told::end, told.subject(1)), CUDA_SUCCESS);
  ASSERT_TRUE(told.wait_for(1));
  // Idleness only shows over some time. A watcher that goes on looking uses all of that time (or, from time
  // to time, a tenth), whatever else the machine does, since the test measures the process' own time.
  const auto used = [] { return harness::cpu_seconds(::getpid()).value(); };
  const double before = used();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(used() - before, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Looking, Ends,
                         testing::Values(EndWatcher::Duration(0),
                                         EndWatcher::Duration(std::chrono::microseconds(1)),
                                         EndWatcher::Duration(std::chrono::hours(1))),
                         [](const auto& how) {
                           return how.index == 0   ? "FromTimeToTime"
                                  : how.index == 1 ? "AtFirst"
                                                   : "WithoutAPause";
                         });

}  // namespace
}  // namespace fairgv::vgpu::cuda
