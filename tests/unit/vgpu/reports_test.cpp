// Reports of drivers, made without waiting: in order, each once, from any thread.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/vgpu/ends/reports.hpp"

namespace fairgv::vgpu {
namespace {

std::vector<std::int32_t> taken(Reports& reports) {
  std::vector<std::int32_t> statuses;
  for (auto entry = reports.take(); entry; entry = std::move(entry->next)) {
    statuses.push_back(entry->report.status);
  }
  return statuses;
}

TEST(Reports, AreTakenOnceAndInTheirOrder) {
  Reports reports;
  EXPECT_FALSE(reports.any());
  EXPECT_EQ(reports.take(), nullptr);
  for (const int status : {1, 2, 3}) ASSERT_TRUE(reports.put({nullptr, status, {}}));
  EXPECT_TRUE(reports.any());
  EXPECT_EQ(taken(reports), (std::vector{1, 2, 3}));
  EXPECT_FALSE(reports.any());
  ASSERT_TRUE(reports.put({nullptr, 4, {}}));
  EXPECT_EQ(taken(reports), std::vector{4});
}

TEST(Reports, ReportsThatNobodyTakesAreFreed) {
  Reports reports;
  ASSERT_TRUE(reports.put({nullptr, 1, {}}));
  ASSERT_TRUE(reports.put({nullptr, 2, {}}));
}

/// As in the executor: a thread that puts a report tries the lock, and the one that releases the lock looks
/// for reports.
TEST(Reports, NoReportIsLeftBehindByAThreadThatDoesNotGetTheLock) {
  constexpr std::int32_t kEach = 20'000;
  constexpr std::size_t kThreads = 3;
  Reports reports;
  std::mutex mutex;
  std::array<std::vector<std::int32_t>, kThreads> seen;  // guarded by mutex
  const auto take_all = [&] {
    while (reports.any()) {
      const std::unique_lock lock(mutex, std::try_to_lock);
      if (!lock) return;
      for (const std::int32_t status : taken(reports)) {
        seen.at(static_cast<std::size_t>(status / kEach)).push_back(status % kEach);
      }
    }
  };
  std::vector<std::thread> drivers;
  for (std::size_t i = 0; i < kThreads; ++i) {
    drivers.emplace_back([&, first = static_cast<std::int32_t>(i) * kEach] {
      for (std::int32_t status = first; status < first + kEach; ++status) {
        EXPECT_TRUE(reports.put({nullptr, status, {}}));
        take_all();
      }
    });
  }
  for (std::thread& driver : drivers) driver.join();
  EXPECT_FALSE(reports.any());
  for (const auto& of_one : seen) {
    ASSERT_EQ(of_one.size(), static_cast<std::size_t>(kEach));
    for (std::int32_t i = 0; i < kEach; ++i) ASSERT_EQ(of_one[static_cast<std::size_t>(i)], i);
  }
}

}  // namespace
}  // namespace fairgv::vgpu
