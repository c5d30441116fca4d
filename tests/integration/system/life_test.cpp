// Programs that fork, take signals, work while they end, unload OpenCL: as tenants they behave as they do on
// the driver.
#include <cstdlib>
#include <ostream>
#include <string_view>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct Life {
  const char* name;
  std::vector<const char*> command;
  std::size_t works;  // how often the program prints "right"
};

/// Without this, the names of the tests would show its bytes.
void PrintTo(const Life& life, std::ostream* out) {
  *out << life.name;
}

struct LifeOfAProgram : System, ::testing::WithParamInterface<Life> {};

TEST_P(LifeOfAProgram, EndsAsOnTheDriver) {
#if defined(__SANITIZE_THREAD__)
  if (std::string_view(GetParam().name) == "FirstCalls") {
    GTEST_SKIP() << "the ICD loader hands out platforms in a way that ThreadSanitizer cannot follow";
  }
#endif
  // The driver's threads change their signal stacks, and AddressSanitizer's own stacks fail when such a
  // thread ends; memory that an unloaded library allocated has no owner. Both happen on the bare driver, too.
  ::setenv("ASAN_OPTIONS", "use_sigaltstack=0:detect_leaks=0", 0);
  std::vector<std::string> command(GetParam().command.begin(), GetParam().command.end());
  command[0] = harness::beside(command[0]);
  const std::vector<std::string> expected(GetParam().works, "right");
  const auto bare = harness::run(harness::bare(command));
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->status, 0);
  EXPECT_EQ(bare->lines, expected);
  const auto ours = harness::run(tenancy->tenant("alice", 1, command));
  ASSERT_TRUE(ours);
  EXPECT_EQ(ours->status, 0);
  EXPECT_EQ(ours->lines, expected);
  EXPECT_TRUE(eventually([&] { return sessions_of("alice") == 0; })) << "its session stays";
}

INSTANTIATE_TEST_SUITE_P(Each, LifeOfAProgram,
                         ::testing::Values(Life{"Fork", {"opencl_life", "fork"}, 2},
                                           Life{"AtExit", {"opencl_life", "atexit"}, 2},
                                           Life{"ExitUnderWay", {"opencl_life", "exit"}, 1},
                                           Life{"MainThreadLeaves", {"opencl_life", "main-leaves"}, 2},
                                           Life{"Signals", {"opencl_life", "signals"}, 1},
                                           Life{"FirstCalls", {"opencl_life", "first-calls"}, 1},
                                           Life{"Unload", {"opencl_unload"}, 3}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace fairgv::integration
