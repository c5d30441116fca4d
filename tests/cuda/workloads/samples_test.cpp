// The small programs, on the driver alone and as tenants. Without FairGV they run on the driver that workers
// would use (harness::bare): an NVIDIA GPU has its own driver.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/harness/measured.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv {
namespace {

const std::vector<std::string> kSamples{"vector_add",  "reduction",          "transpose", "bfs",
                                        "nw",          "pathfinder",         "streams",   "event_timing",
                                        "host_memory", "pitched_and_arrays", "symbols"};

struct Samples : ::testing::Test {
  void SetUp() override {
    if (!FAIRGV_HAS_NVCC) GTEST_SKIP() << "nvcc is not here";
  }

  static void expect_all_pass(harness::CommandLine command) {
    // Memory that the OpenCL implementation beneath keeps until the end is no leak of ours.
    command.environment.emplace_back("ASAN_OPTIONS", "detect_leaks=0");
    const auto finished = harness::run(command);
    ASSERT_TRUE(finished) << finished.error().message;
    std::string output;
    for (const std::string& line : finished->lines) output += line + '\n';
    EXPECT_EQ(finished->status, 0) << output;
    for (const std::string& name : kSamples) {
      EXPECT_NE(output.find("passed " + name + "\n"), std::string::npos) << output;
    }
  }

  static std::vector<std::string> program() { return {FAIRGV_PROGRAM_DIR "/samples"}; }
};

TEST_F(Samples, ComputeTheRightValuesOnTheDriverAlone) {
  expect_all_pass(harness::bare(program()));
}

struct SamplesAsTenants : Samples {
  void SetUp() override {
    Samples::SetUp();
    if (IsSkipped()) return;
    if (!std::filesystem::exists(FAIRGV_CUDA_DIR "/libcuda.so.1")) {
      GTEST_SKIP() << "the CUDA front end is not here";
    }
    auto started = harness::Tenancy::start();
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
  }

  std::optional<harness::Tenancy> tenancy;
};

TEST_F(SamplesAsTenants, ComputeTheRightValues) {
  expect_all_pass(tenancy->tenant("alice", 2, program()));
}

TEST_F(SamplesAsTenants, ComputeTheRightValuesWhenEveryLaunchIsCut) {
  auto command = tenancy->tenant("alice", 2, program());
  command.environment.emplace_back("FAIRGV_SLICE", "blocks:1");
  expect_all_pass(std::move(command));
}

}  // namespace
}  // namespace fairgv
