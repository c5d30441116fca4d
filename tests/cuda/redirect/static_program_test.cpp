// Programs that plain nvcc links, with NVIDIA's runtime in them, against the same programs with -cudart
// shared: on the software driver and as tenants.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/harness/combined_run.hpp"
#include "tests/harness/seed.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv {
namespace {

namespace fs = std::filesystem;

const std::string kPrograms = FAIRGV_PROGRAM_DIR "/";
const std::string kPreload = FAIRGV_PRELOAD;

struct StaticProgram : ::testing::Test {
  void SetUp() override {
    if (!FAIRGV_HAS_PROGRAMS) GTEST_SKIP() << "nvcc is not here, or FairGV is sanitized";
  }

  /// On the software driver, by hand.
  static harness::CommandLine on_driver(std::vector<std::string> program,
                                        const std::string& preload = kPreload) {
    auto command = harness::bare(std::move(program));
    command.environment.emplace_back("LD_PRELOAD", preload);
    return command;
  }

  static void expect_passes(harness::CommandLine command, std::initializer_list<const char*> cases) {
    const harness::CombinedRun ran = harness::run_combined(std::move(command));
    EXPECT_EQ(ran.status, 0) << ran.output;
    for (const char* name : cases)
      EXPECT_NE(ran.output.find(std::string("passed ") + name + "\n"), std::string::npos) << ran.output;
  }

  static void expect_output(harness::CommandLine command, const std::string& output) {
    const harness::CombinedRun ran = harness::run_combined(std::move(command));
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_EQ(ran.output, output);
  }
};

TEST_F(StaticProgram, GivesBitForBitWhatItsSharedRunGives) {
  const harness::CombinedRun shared = harness::run_combined(harness::bare({kPrograms + "numbers_shared"}));
  ASSERT_EQ(shared.status, 0) << shared.output;
  for (const char* name : {"numbers", "numbers_no_pie"})
    expect_output(on_driver({kPrograms + name}), shared.output);
}

TEST_F(StaticProgram, WithDeviceCodeOfSeveralUnitsGivesWhatItsSharedRunGives) {
  const harness::CombinedRun shared =
      harness::run_combined(harness::bare({kPrograms + "device_code_shared"}));
  ASSERT_EQ(shared.status, 0) << shared.output;
  EXPECT_NE(shared.output.find("result: 49; the other unit: cudaSuccess, 14\n"), std::string::npos)
      << shared.output;
  expect_output(on_driver({kPrograms + "device_code"}), shared.output);
}

TEST_F(StaticProgram, OfSeveralUnitsRunsKernelsBeforeMainAndMakesCallsAfterIt) {
  expect_passes(on_driver({kPrograms + "linked", "after_main"}), {"linked", "after_main"});
}

TEST_F(StaticProgram, HasTheWholeRuntime) {
  expect_passes(on_driver({kPrograms + "execution"}), {"launches", "callbacks", "events", "functions",
                                                       "devices", "errors", "threads", "libraries", "reset"});
  expect_passes(on_driver({kPrograms + "memory"}), {"vector_add", "symbols", "managed", "pitched", "boxes",
                                                    "arrays", "host_memory", "pools", "registered_memory"});
  expect_passes(on_driver({kPrograms + "graphs"}),
                {"captured", "built", "forked", "nested", "updated", "hosted"});
  expect_passes(on_driver({kPrograms + "textures", "array_2d", "pitched", "volumes"}),
                {"array_2d", "pitched", "volumes"});
  expect_passes(on_driver({kPrograms + "per_thread"}), {"streams_are_apart", "variants"});
}

TEST_F(StaticProgram, MayBeALibraryThatIsLinkedOrOpened) {
  expect_output(on_driver({kPrograms + "linked_counter"}), "1 2\n");
  for (const char* depth : {"shallow", "deep"})
    expect_output(on_driver({FAIRGV_LOADER, "1", depth, kPrograms + "libcounter.so"}), " 1 2\n");
}

TEST_F(StaticProgram, WithoutSymbolsIsToldSoInOneLine) {
  const harness::CombinedRun ran = harness::run_combined(on_driver({kPrograms + "numbers_stripped"}));
  EXPECT_NE(ran.status, 0);
  EXPECT_TRUE(ran.output.starts_with("fairgv: " + kPrograms + "numbers_stripped has NVIDIA's runtime"))
      << ran.output;
  EXPECT_NE(ran.output.find("-cudart shared"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("fairgv run --direct"), std::string::npos) << ran.output;
  EXPECT_EQ(ran.output.find("fairgv: ", 1), std::string::npos) << ran.output;
  auto quiet = on_driver({kPrograms + "numbers_stripped"});
  quiet.environment.emplace_back("FAIRGV_LOG", "off");
  EXPECT_EQ(harness::run_combined(std::move(quiet)).output.find("fairgv: "), std::string::npos);
}

/// As `fairgv run` starts them.
struct StaticTenant : StaticProgram {
  void SetUp() override {
    StaticProgram::SetUp();
    if (IsSkipped()) return;
    if (!fs::exists(FAIRGV_CUDA_DIR "/libcuda.so.1")) GTEST_SKIP() << "the CUDA front end is not here";
    auto started = harness::Tenancy::start();
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
  }

  harness::CommandLine tenant(std::vector<std::string> program, const char* slice = nullptr) const {
    auto command = tenancy->tenant("alice", 2, std::move(program));
    if (slice != nullptr) command.environment.emplace_back("FAIRGV_SLICE", slice);
    return command;
  }

  std::optional<harness::Tenancy> tenancy;
};

TEST_F(StaticTenant, GivesBitForBitWhatItsSharedRunGivesWholeAndCut) {
  const harness::CombinedRun shared = harness::run_combined(tenant({kPrograms + "numbers_shared"}));
  ASSERT_EQ(shared.status, 0) << shared.output;
  for (const char* name : {"numbers", "numbers_no_pie"}) {
    expect_output(tenant({kPrograms + name}), shared.output);
    expect_output(tenant({kPrograms + name}, "blocks:1"), shared.output);
    const std::string slice = "random:" + std::to_string(harness::printed_seed() % 1'000'000);
    expect_output(tenant({kPrograms + name}, slice.c_str()), shared.output);
  }
}

TEST_F(StaticTenant, WithDeviceCodeOfSeveralUnitsRunsWholeAndCut) {
  for (const char* slice : {"off", "blocks:1"})
    expect_output(tenant({kPrograms + "device_code"}, slice),
                  "malloc: cudaSuccess\nlaunch: cudaSuccess\nresult: 49; the other unit: cudaSuccess, 14\n");
}

/// It ends before its driver's messages would come by themselves.
TEST_F(StaticTenant, WhoseKernelsLaunchKernelsIsToldSoBeforeItEnds) {
  for (int run = 0; run < 5; ++run) {
    const harness::CombinedRun ran = harness::run_combined(tenant({kPrograms + "nested"}));
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_NE(ran.output.find("launch: cudaErrorNotSupported\n"), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("kernels that launch kernels (dynamic parallelism) are not supported"),
              std::string::npos)
        << ran.output;
  }
}

TEST_F(StaticTenant, IsServedWhoeverStartsIt) {
  expect_output(
      tenant({"/bin/sh", "-c",
              kPrograms + "linked_counter; " + FAIRGV_LOADER + " 1 deep " + kPrograms + "libcounter.so"}),
      "1 2\n 1 2\n");
  expect_passes(tenant({kPrograms + "execution"}), {"launches", "callbacks", "events", "errors", "threads"});
}

// Not on the software driver alone, which deadlocks, with -cudart shared, too: PoCL opens its kernels by
// dlopen(3) while dlclose(3) waits for it.
TEST_F(StaticTenant, LibrariesAreOpenedByThreadsWhileOthersRun) {
  const harness::TemporaryFolder folder;
  std::vector<std::string> command{FAIRGV_LOADER, "4", "shallow"};
  std::string expected = " 1 2\n";
  for (int i = 0; i < 9; ++i) {
    command.push_back(folder / ("counter" + std::to_string(i) + ".so"));
    fs::copy_file(kPrograms + "libcounter.so", command.back());
    if (i > 0) expected += " 1 2 1 2\n";
  }
  expect_output(tenant(std::move(command)), expected);
}

TEST_F(StaticTenant, KeepsWhatTheUserPreloads) {
  auto command = tenant({"/bin/sh", "-c", "echo $LD_PRELOAD"});
  command.environment.emplace_back("LD_PRELOAD", "libm.so.6");
  expect_output(std::move(command), "libm.so.6:" + kPreload + "\n");
}

TEST_F(StaticTenant, ProgramsWithASanitizerOrAProfilerStart) {
  expect_output(tenant({FAIRGV_SANITIZED_PROGRAM}), "started\n");
  const harness::TemporaryFolder folder;
  expect_output(tenant({"/bin/sh", "-c", "cd " + folder.path().string() + " && " FAIRGV_PROFILED_PROGRAM}),
                "started\n");
  EXPECT_TRUE(fs::exists(folder / "gmon.out"));
}

}  // namespace
}  // namespace fairgv
