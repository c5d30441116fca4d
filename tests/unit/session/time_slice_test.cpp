#include "runtime/base/time_slice.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace fairgv::session {
namespace {

using std::chrono::microseconds;

bool system_heeds_slices() {
  utsname system{};
  int major = 0;
  int minor = 0;
  EXPECT_EQ(::uname(&system), 0);
  EXPECT_EQ(std::sscanf(system.release, "%d.%d", &major, &minor), 2);
  return major > 6 || (major == 6 && minor >= 12);
}

TEST(TimeSlice, IsThisThreadsAndThoseItStarts) {
  const auto before = time_slice();
  std::thread([] {
    ASSERT_TRUE(set_time_slice(microseconds(200)));
    const microseconds expected(system_heeds_slices() ? 200 : 0);
    EXPECT_EQ(time_slice(), expected);
    std::thread([expected] { EXPECT_EQ(time_slice(), expected); }).join();
  }).join();
  EXPECT_EQ(time_slice(), before);
}

TEST(TimeSlice, LeavesThePolicyAndTheNiceValueAsTheyAre) {
  std::thread([] {
    const auto itself = static_cast<id_t>(::gettid());
    const int nice = std::min(::getpriority(PRIO_PROCESS, itself) + 1, 19);
    ASSERT_EQ(::setpriority(PRIO_PROCESS, itself, nice), 0);
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_BATCH, &none), 0);
    ASSERT_TRUE(set_time_slice(kPromptSlice));
    EXPECT_EQ(::getpriority(PRIO_PROCESS, itself), nice);
    EXPECT_EQ(::sched_getscheduler(0), SCHED_BATCH);
  }).join();
}

TEST(TimeSlice, IsNotForThreadsOfOtherPolicies) {
  std::thread([] {
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_IDLE, &none), 0);
    EXPECT_FALSE(set_time_slice(kPromptSlice));
    EXPECT_EQ(::sched_getscheduler(0), SCHED_IDLE);
  }).join();
}

}  // namespace
}  // namespace fairgv::session
