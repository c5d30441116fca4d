// Threads of this process: found in their order, each given a core of its own, or all left where they are.
#include "runtime/vgpu/backend/device_threads.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/base/core_set.hpp"

namespace fairgv::vgpu {
namespace {

/// Threads that wait, as a driver's threads do between launches.
class Sleepers {
 public:
  explicit Sleepers(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      auto id =
          std::make_shared<std::promise<pid_t>>();  // the thread may still use it when its value is here
      threads_.emplace_back([end = end_, id] {
        id->set_value(::gettid());
        end.wait();
      });
      ids_.push_back(id->get_future().get());
    }
  }
  ~Sleepers() {
    wake_.set_value();
    for (auto& thread : threads_) thread.join();
  }
  const std::vector<pid_t>& ids() const { return ids_; }

 private:
  std::promise<void> wake_;
  std::shared_future<void> end_ = wake_.get_future().share();
  std::vector<std::thread> threads_;
  std::vector<pid_t> ids_;
};

std::vector<std::size_t> cores_of(pid_t thread) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(::sched_getaffinity(thread, sizeof(cores), &cores), 0);
  std::vector<std::size_t> numbers;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) numbers.push_back(core);
  }
  return numbers;
}

TEST(DeviceThreads, AreFoundOldestFirst) {
  std::thread([] {}).join();  // ThreadSanitizer starts its own with the first
  const std::size_t before = own_threads().size();
  const Sleepers sleepers(3);
  std::vector<pid_t> threads = own_threads();
  ASSERT_EQ(threads.size(), before + 3);
  EXPECT_EQ(threads.front(), ::getpid());
  threads.erase(threads.begin(), threads.begin() + static_cast<std::ptrdiff_t>(before));
  EXPECT_EQ(threads, sleepers.ids());
}

TEST(DeviceThreads, GetACoreEachInTheirOrder) {
  const std::vector<std::size_t> cores = cores_of(0);
  const Sleepers sleepers(cores.size());
  ASSERT_TRUE(give_each_a_core(sleepers.ids(), allowed_cores().value()));
  for (std::size_t i = 0; i < cores.size(); ++i) {
    EXPECT_EQ(cores_of(sleepers.ids()[i]), std::vector<std::size_t>{cores[i]});
  }
  EXPECT_EQ(cores_of(0), cores) << "nobody else is moved";
}

TEST(DeviceThreads, StayWhereTheyAreUnlessThereIsOneForEachCore) {
  const std::vector<std::size_t> cores = cores_of(0);
  for (const std::size_t count : {cores.size() - 1, cores.size() + 1}) {
    const Sleepers sleepers(count);
    EXPECT_FALSE(give_each_a_core(sleepers.ids(), allowed_cores().value())) << count;
    for (const pid_t thread : sleepers.ids()) EXPECT_EQ(cores_of(thread), cores);
  }
}

TEST(DeviceThreads, OfWhichOneHasEndedAreNotAllPlaced) {
  const std::vector<std::size_t> cores = cores_of(0);
  std::vector<pid_t> threads;
  {
    const Sleepers sleepers(1);
    threads = sleepers.ids();
  }
  const Sleepers sleepers(cores.size() - 1);
  threads.insert(threads.end(), sleepers.ids().begin(), sleepers.ids().end());
  EXPECT_FALSE(give_each_a_core(threads, allowed_cores().value()));
}

TEST(DeviceThreads, LeaveTheirCoresAndComeBack) {
  const auto all = std::move(allowed_cores()).value();
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "there is one core only";
  const Sleepers sleepers(2);
  const std::vector<std::size_t> own = cores_of(sleepers.ids()[0]);
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(own.front(), &first);
  ASSERT_EQ(::sched_setaffinity(sleepers.ids()[0], sizeof(first), &first), 0);
  const cpu_set_t others = other_cores(all, first);
  AwayFromCores away(sleepers.ids(), others);
  for (int round = 0; round < 2; ++round) {
    away.leave();
    for (const pid_t thread : sleepers.ids()) {
      EXPECT_EQ(cores_of(thread), std::vector<std::size_t>(own.begin() + 1, own.end()));
    }
    away.come_back();
    EXPECT_EQ(cores_of(sleepers.ids()[0]), std::vector{own.front()});
    EXPECT_EQ(cores_of(sleepers.ids()[1]), own);
    away.come_back();
  }
}

}  // namespace
}  // namespace fairgv::vgpu
