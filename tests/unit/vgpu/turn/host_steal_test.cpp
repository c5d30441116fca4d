// Time that a virtual machine's host has taken, as the text of /proc/stat gives it.
#include "runtime/vgpu/turn/host_steal.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;

cpu_set_t processors(std::initializer_list<std::size_t> numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t number : numbers) CPU_SET(number, &set);
  return set;
}

/// A text of processors 0 and 11 with so much steal.
std::string stat(int first, int second) {
  return fmt::format(
      "cpu  9 9 9 9 9 9 9 {} 0 0\ncpu0 1 2 3 4 5 6 7 {} 8 9\ncpu11 1 2 3 4 5 6 7 {} 8 9\nintr 5 {}\n",
      first + second, first, second, std::string(20'000, '7'));
}

TEST(HostStealTicks, AreTheSumOverTheProcessorsThatCount) {
  EXPECT_EQ(processor_ticks(stat(20, 300), processors({0})).steal, 20U);
  EXPECT_EQ(processor_ticks(stat(20, 300), processors({0, 11})).steal, 320U);
  EXPECT_EQ(processor_ticks(stat(20, 300), processors({1})).steal, 0U);
}

TEST(HostStealTicks, AreZeroInATextThatHasNone) {
  for (const char* text :
       {"", "\n", "cpu0", "cpu0 1 2 3\n", "cpux 1 2 3 4 5 6 7 8\n", "intr 1\ncpu0 1 2 3 4 5 6 7 8"}) {
    EXPECT_EQ(processor_ticks(text, processors({0})).steal,
              text == std::string("cpux 1 2 3 4 5 6 7 8\n") ? 8U : 0U)
        << text;
  }
}

class HostStealTest : public ::testing::Test {
 protected:
  HostStealTest() { write(100); }
  ~HostStealTest() override { ::unlink(path_.c_str()); }

  void write(int ticks) { std::ofstream(path_) << stat(ticks, 5); }

  const Duration tick_ = Duration(1s) / ::sysconf(_SC_CLK_TCK);
  std::string path_ = ::testing::TempDir() + fmt::format("fairgv-host-steal-{}", ::getpid());
};

TEST_F(HostStealTest, ExplainsStallsUpToWhatWasTakenAndATickMore) {
  HostSteal host(processors({0}), path_.c_str());
  write(104);
  EXPECT_EQ(host.explain(3 * tick_), 3 * tick_);
  EXPECT_EQ(host.explain(3 * tick_), 2 * tick_) << "one is left, and one may not have been counted yet";
  EXPECT_EQ(host.explain(3 * tick_), 0ns);
  write(105);
  EXPECT_EQ(host.explain(3 * tick_), 1 * tick_) << "the one that came late";
}

TEST_F(HostStealTest, ExplainsNothingWhereNothingWasEverTaken) {
  write(0);
  EXPECT_EQ(HostSteal(processors({0}), path_.c_str()).explain(1ms), 0ns);
}

TEST_F(HostStealTest, ExplainsNothingWithoutTheFile) {
  EXPECT_EQ(HostSteal(processors({0}), "/nonexistent").explain(1ms), 0ns);
}

TEST(HostSteal, ReadsThisSystemsFile) {
  HostSteal host(processors({0}));
  EXPECT_GE(host.explain(1ms), 0ns);
  EXPECT_LE(host.explain(1ms), 1ms);
}

}  // namespace
}  // namespace fairgv::vgpu
