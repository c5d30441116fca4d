#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/harness/process_cpu.hpp"

namespace fairgv::harness {
namespace {

TEST(ProcessCpu, UserAndSystemTimeAreAdded) {
  EXPECT_EQ(cpu_ticks("12 (scan) S 1 12 12 0 -1 4194304 90 0 0 0 31 7 5 5 20 0 1 0 100 0 0"), 38U);
}

TEST(ProcessCpu, AProgramMayBeCalledAnything) {
  EXPECT_EQ(cpu_ticks("12 (a) R 9 (b) S 1 12 12 0 -1 4194304 90 0 0 0 31 7 5 5 20 0 1 0"), 38U);
}

TEST(ProcessCpu, TextThatIsNoSuchLineIsNothing) {
  EXPECT_FALSE(cpu_ticks(""));
  EXPECT_FALSE(cpu_ticks("12 (scan) S 1 12 12 0 -1 4194304 90 0 0 0 31"));
  EXPECT_FALSE(cpu_ticks("12 (scan) S 1 12 12 0 -1 4194304 90 0 0 0 x y"));
}

TEST(ProcessCpu, AProcessThatLivesHasSomeAndOneThatDoesNotHasNone) {
  EXPECT_TRUE(cpu_seconds(::getpid()));
  EXPECT_FALSE(cpu_seconds(-1));
}

}  // namespace
}  // namespace fairgv::harness
