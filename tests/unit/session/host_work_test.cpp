// Waiting for code of the program: until some of it has ended, and never for long.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/session/client/host_work.hpp"

namespace fairgv::session {
namespace {

using Clock = std::chrono::steady_clock;

TEST(HostWork, WithoutAnyNobodyWaits) {
  HostWork work;
  HostWork::Wait wait(work);
  EXPECT_FALSE(wait.any_ends());
  work.begins();
  work.ended();
  HostWork::Wait later(work);
  EXPECT_FALSE(later.any_ends()) << "work that ended before the wait began";
}

TEST(HostWork, WorkThatHasEndedIsReportedOnce) {
  HostWork work;
  work.begins();
  HostWork::Wait wait(work);
  work.ended();
  EXPECT_TRUE(wait.any_ends());
  EXPECT_FALSE(wait.any_ends());
}

TEST(HostWork, OneThatIsOpenIsWaitedFor) {
  HostWork work;
  work.begins();
  EXPECT_TRUE(work.any());
  HostWork::Wait wait(work);
  std::thread other([&work] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    work.ended();
  });
  EXPECT_TRUE(wait.any_ends());
  other.join();
  EXPECT_FALSE(work.any());
}

TEST(HostWork, ThePatienceIsThatOfTheWholeWait) {
  HostWork work;
  for (int i = 0; i < 2; ++i) work.begins();
  HostWork::Wait wait(work);
  work.ended();
  EXPECT_TRUE(wait.any_ends());
  const auto from = Clock::now();
  EXPECT_FALSE(wait.any_ends()) << "the other one stays";
  EXPECT_GE(Clock::now() - from, HostWork::kPatience / 2);
  work.begins();
  work.ended();
  EXPECT_FALSE(wait.any_ends()) << "too late";
}

}  // namespace
}  // namespace fairgv::session
