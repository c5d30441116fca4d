#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <thread>

#include "tests/harness/process_cpu.hpp"

namespace fairgv::harness {
namespace {

/// Computes until this process has used so many more seconds of CPU time.
void use(double seconds) {
  const auto used = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  for (const double end = used() + seconds; used() < end;) {
  }
}

TEST(ProcessCpu, TimeThatIsUsedIsCountedAlsoOfThreadsThatHaveEnded) {
  const auto before = cpu_seconds(::getpid());
  ASSERT_TRUE(before);
  std::thread([] { use(0.02); }).join();
  EXPECT_GE(*cpu_seconds(::getpid()) - *before, 0.02);
}

TEST(ProcessCpu, OfAnotherProcessOnlyItsOwnIsCounted) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) ::pause();
  }
  const auto before = cpu_seconds(child);
  use(0.05);
  const auto after = cpu_seconds(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(before && after);
  EXPECT_LT(*after - *before, 0.05);
}

TEST(ProcessCpu, AProcessThatIsNotThereHasNone) {
  EXPECT_FALSE(cpu_seconds(-1));
  EXPECT_FALSE(cpu_seconds(0));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(cpu_seconds(child));
}

}  // namespace
}  // namespace fairgv::harness
