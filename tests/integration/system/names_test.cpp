// The names of the platforms that programs see: FairGV's or their drivers'.
#include <algorithm>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct Names : System {
  /// A workload's line about its platform, with these settings in the daemon's configuration and in its
  /// environment.
  std::string platform(const std::string& configuration, std::optional<std::string> variable) {
    start_daemon(configuration.empty() ? "" : "[opencl]\nnames = \"" + configuration + "\"\n");
    auto program = tenancy->tenant("alice", 1, {workload("matrixMul"), "--repetitions", "1"});
    program.environment.emplace_back("FAIRGV_OPENCL_NAMES", std::move(variable));
    const auto result = harness::run_measured(program);
    EXPECT_TRUE(result) << result.error().message;
    return result ? result.value()["platform"].get<std::string>() : "";
  }
};

TEST_F(Names, AreFairGVsUnlessTheConfigurationOrTheProgramSaysOtherwise) {
  const std::string ours = platform("", std::nullopt);
  const std::string drivers = platform("driver", std::nullopt);
  EXPECT_EQ(ours, "FairGV on " + drivers);
  EXPECT_EQ(platform("fairgv", std::nullopt), ours);
  EXPECT_EQ(platform("fairgv", "driver"), drivers) << "the program's word goes before";
  EXPECT_EQ(platform("driver", "fairgv"), ours);
  EXPECT_EQ(platform("driver", ""), drivers) << "an empty variable counts as not set";
}

TEST_F(Names, AVariableThatSaysNeitherIsAnErrorOfOneLine) {
  auto program =
      tenancy->tenant("alice", 1, {"/bin/sh", "-c", "'" + workload("matrixMul") + "' --repetitions 1 2>&1"});
  program.environment.emplace_back("FAIRGV_OPENCL_NAMES", "mine");
  const auto finished = harness::run(program);
  ASSERT_TRUE(finished);
  EXPECT_NE(finished->status, 0);
  EXPECT_TRUE(std::any_of(finished->lines.begin(), finished->lines.end(), [](const std::string& line) {
    return line == "fairgv: FAIRGV_OPENCL_NAMES is 'mine': say 'driver' or 'fairgv'";
  }));
}

}  // namespace
}  // namespace fairgv::integration
