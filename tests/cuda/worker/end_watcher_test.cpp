// Ends of commands as the worker learns of them over a driver that has no better way than events.
#include "runtime/vgpu/cuda/end_watcher.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/objects.hpp"

namespace fairgv::vgpu::cuda {
namespace {

using std::chrono::milliseconds;

const Driver& driver() {
  static const Driver opened = Driver::open(FAIRGV_SOFTCUDA, nullptr).value();
  return opened;
}

/// Of the software driver, too, but none that the worker needs.
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

/// What was told, in order.
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
  }

  Subject* subject(int number) {
    subjects_.push_back(std::make_unique<Subject>(Subject{this, number}));
    return subjects_.back().get();
  }
  std::vector<int> numbers() const {
    const std::lock_guard lock(mutex_);
    return numbers_;
  }
  /// False: they did not come.
  bool wait_for(std::size_t count) const {
    for (int i = 0; i < 10'000 && numbers().size() < count; ++i) std::this_thread::sleep_for(milliseconds(1));
    return numbers().size() >= count;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<int> numbers_;
  std::vector<std::unique_ptr<Subject>> subjects_;
};

/// Parameter: whether it looks without a pause.
struct Ends : testing::TestWithParam<bool> {
  void SetUp() override {
    if (driver().devices().empty()) GTEST_SKIP() << "there is no OpenCL device";
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

  /// Until the gate is opened.
  std::unique_ptr<Stream> held_stream() {
    auto made = stream();
    gate.close(*made);
    return made;
  }

  std::shared_ptr<Context> context;
  Gate gate;
  Told told;
};

TEST_P(Ends, AreToldInTheStreamsOrderAndNotBefore) {
  const auto one = held_stream();
  EndWatcher watcher(driver().functions(), GetParam());
  for (int i = 1; i <= 20; ++i) ASSERT_EQ(watcher.watch(*one, &Told::end, told.subject(i)), CUDA_SUCCESS);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_TRUE(told.numbers().empty());
  gate.open();
  ASSERT_TRUE(told.wait_for(20));
  for (int i = 1; i <= 20; ++i) EXPECT_EQ(told.numbers()[static_cast<std::size_t>(i - 1)], i);
}

TEST_P(Ends, OfOneStreamDoNotWaitForAnothers) {
  const auto held = held_stream();
  const auto free = stream();
  EndWatcher watcher(driver().functions(), GetParam());
  ASSERT_EQ(watcher.watch(*held, &Told::end, told.subject(1)), CUDA_SUCCESS);
  ASSERT_EQ(watcher.watch(*free, &Told::end, told.subject(2)), CUDA_SUCCESS);
  ASSERT_TRUE(told.wait_for(1));
  EXPECT_EQ(told.numbers(), std::vector{2});
  gate.open();
  ASSERT_TRUE(told.wait_for(2));
}

TEST_P(Ends, ThatLastLongAreToldAllTheSame) {
  const auto one = held_stream();
  EndWatcher watcher(driver().functions(), GetParam());
  ASSERT_EQ(watcher.watch(*one, &Told::end, told.subject(1)), CUDA_SUCCESS);
  std::this_thread::sleep_for(milliseconds(200));  // it looks from time to time by now
  gate.open();
  ASSERT_TRUE(told.wait_for(1));
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

// A context that is current on a thread cannot be destroyed by another as if nothing were.
TEST_P(Ends, LeaveTheirContextToWhoHasBeenTold) {
  EndWatcher watcher(driver().functions(), GetParam());
  for (int i = 1; i <= 20; ++i) {
    SetUp();
    const auto one = stream();
    ASSERT_EQ(watcher.watch(*one, &Told::end, told.subject(i)), CUDA_SUCCESS);
    ASSERT_TRUE(told.wait_for(static_cast<std::size_t>(i)));
  }
  EXPECT_EQ(told.numbers().back(), 20);
}

TEST_P(Ends, TheWatcherCanBeStoppedWhateverItWatches) {
  const auto one = held_stream();
  {
    EndWatcher watcher(driver().functions(), GetParam());
    ASSERT_EQ(watcher.watch(*one, &Told::end, told.subject(1)), CUDA_SUCCESS);
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(told.numbers().empty());
  gate.open();
  // It is still to be gone through.
  EXPECT_EQ(beside<decltype(cuStreamSynchronize)>("cuStreamSynchronize")(one->handle), CUDA_SUCCESS);
}

TEST_P(Ends, WaitingForNoneTakesNoProcessor) {
  const auto one = stream();
  EndWatcher watcher(driver().functions(), GetParam());
  ASSERT_EQ(watcher.watch(*one, &Told::end, told.subject(1)), CUDA_SUCCESS);
  ASSERT_TRUE(told.wait_for(1));
  std::this_thread::sleep_for(milliseconds(100));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.25);
}

INSTANTIATE_TEST_SUITE_P(Looking, Ends, testing::Bool(),
                         [](const auto& how) { return how.param ? "WithoutAPause" : "FromTimeToTime"; });

}  // namespace
}  // namespace fairgv::vgpu::cuda
