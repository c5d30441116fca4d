// Experiments with the workloads in CUDA, run to their end; people judge the measured figures.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/harness/temporary_folder.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv {
namespace {

struct CudaExperiments : ::testing::Test {
  void SetUp() override {
    if (!FAIRGV_HAS_CUDA_EXPERIMENTS) GTEST_SKIP() << "no benchmarks, or no workloads in CUDA, in this build";
  }

  static int bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {harness::beside("fairgv"), "bench"});
    const auto finished = harness::run({std::move(arguments), {}});
    return finished ? finished->status : -1;
  }

  const harness::TemporaryFolder folder;
  const std::filesystem::path table = folder / "table.csv";
};

TEST_F(CudaExperiments, TheSameWorkloadIsMeasuredInCudaAndInDirectMode) {
  for (const std::string api : {"cuda", "cuda-direct"}) {
    SCOPED_TRACE(api);
    ASSERT_EQ(bench({"overhead", "--api", api, "--only", "matrixMul", "--quick", "--csv", table}), 0);
    std::ifstream in(table);
    std::vector<std::string> rows;
    for (std::string line; std::getline(in, line);) rows.push_back(line);
    ASSERT_EQ(rows.size(), 3U);  // the machine, the header, the workload
    EXPECT_TRUE(rows[2].starts_with("matrixMul,")) << rows[2];
  }
}

TEST_F(CudaExperiments, AnUnknownApiIsRefused) {
  EXPECT_EQ(bench({"share", "--api", "vulkan"}), 2);
  EXPECT_EQ(bench({"overhead", "--api", "mixed"}), 2);       // one program at a time
  EXPECT_EQ(bench({"slicing", "--api", "cuda-direct"}), 2);  // whose launches are not cut
}

}  // namespace
}  // namespace fairgv
