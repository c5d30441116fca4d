// Programs that compile at run time, with the toolkit's own NVRTC, nvJitLink and nvcc: on the software
// driver, as tenants, on another driver, and without one.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/child.hpp"
#include "tests/harness/combined_run.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv {
namespace {

namespace fs = std::filesystem;

const std::string kPrograms = FAIRGV_PROGRAM_DIR "/";
const std::string kResult = "1 4 7 10 \n";

void expect_output(harness::CommandLine command, const std::string& output) {
  const harness::CombinedRun ran = harness::run_combined(std::move(command));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(ran.output, output);
}

struct JitProgram : ::testing::Test {
  void SetUp() override {
    if (!FAIRGV_HAS_COMPILERS) GTEST_SKIP() << "NVRTC, nvJitLink or nvcc is not here";
  }

  /// On the software driver, by hand.
  static harness::CommandLine on_driver(std::vector<std::string> program) {
    auto command = harness::bare(std::move(program));
    command.environment.emplace_back("LD_PRELOAD", FAIRGV_PRELOAD);
    return command;
  }
  /// With another libcuda.so.1, or none, in this folder.
  static harness::CommandLine with_driver_in(const fs::path& folder, std::vector<std::string> program) {
    harness::CommandLine command{std::move(program), {}};
    command.environment = {{"LD_LIBRARY_PATH", folder.string()}, {"LD_PRELOAD", FAIRGV_PRELOAD}};
    return command;
  }
};

TEST_F(JitProgram, CannotRunMachineCodeOnTheSoftwareDeviceByItself) {
  const harness::CombinedRun ran =
      harness::run_combined(harness::bare({kPrograms + "compile", FAIRGV_NVRTC, "run", "-arch=sm_75"}));
  EXPECT_NE(ran.status, 0);
  EXPECT_NE(ran.output.find("cuModuleLoadData: error 209"), std::string::npos) << ran.output;
}

TEST_F(JitProgram, RunsWhatNvrtcMakesHoweverItFindsIt) {
  const std::vector<std::pair<std::string, std::string>> ways{
      {"compile", FAIRGV_NVRTC},
      {"compile", std::string("deep:") + FAIRGV_NVRTC},
      {"compile_linked", "linked"},
      {"compile_linked_now", "linked"},
      {"compile_linked", FAIRGV_NVRTC}};
  for (const auto& [program, library] : ways) {
    SCOPED_TRACE(program + " " + library);
    if (harness::kSanitized && library.starts_with("deep:")) continue;  // AddressSanitizer forbids it
    expect_output(on_driver({kPrograms + program, library, "run", "-arch=sm_75"}), kResult);
    expect_output(on_driver({kPrograms + program, library, "run", "--gpu-architecture", "sm_75"}), kResult);
  }
}

TEST_F(JitProgram, RunsWhatACopyOfNvrtcUnderAnotherNameMakes) {
  const harness::TemporaryFolder folder;
  for (const auto& entry : fs::directory_iterator(fs::path(FAIRGV_NVRTC).parent_path())) {
    const std::string name = entry.path().filename();
    if (name.starts_with("libnvrtc-builtins")) fs::create_symlink(entry.path(), folder / name);
  }
  const std::string renamed = folder / "libnvrtc-0123abcd.so";
  fs::copy_file(FAIRGV_NVRTC, renamed);
  expect_output(on_driver({kPrograms + "compile", renamed, "run", "-arch=sm_75"}), kResult);
}

TEST_F(JitProgram, GetsFromNvrtcWhatItMakesForAVirtualArchitecture) {
  expect_output(on_driver({kPrograms + "compile", FAIRGV_NVRTC, "kind", "-arch=sm_75"}), "PTX\n");
  expect_output(on_driver({kPrograms + "compile", FAIRGV_NVRTC, "kind", "-arch=compute_75"}), "nothing\n");
}

TEST_F(JitProgram, GetsMachineCodeOnOtherDriversAndWithoutOne) {
  const harness::TemporaryFolder none;
  for (const fs::path& folder : {none.path(), fs::path(FAIRGV_OTHER_DRIVER_DIR)}) {
    SCOPED_TRACE(folder);
    expect_output(with_driver_in(folder, {kPrograms + "compile", FAIRGV_NVRTC, "kind", "-arch=sm_75"}),
                  "machine code\n");
    for (const char* way : {"ptx", "lto", "two"})
      expect_output(with_driver_in(folder, {kPrograms + "link", "kind", way}), "machine code\n");
  }
}

TEST_F(JitProgram, RunsWhatNvJitLinkMakes) {
  const harness::TemporaryFolder folder;
  for (const char* way : {"ptx", "limited", "cubin", "file", "lto", "lto-ptx", "two", "two-cubin", "mixed"}) {
    SCOPED_TRACE(way);
    expect_output(
        on_driver({"/bin/sh", "-c", "cd " + folder.path().string() + " && " + kPrograms + "link run " + way}),
        kResult);
  }
}

TEST_F(JitProgram, IsToldWhatOptimisationDropsThatOtherInputsCall) {
  const harness::CombinedRun ran = harness::run_combined(on_driver({kPrograms + "link", "run", "lto-called"}));
  EXPECT_NE(ran.status, 0);
  EXPECT_NE(ran.output.find("Undefined reference to '_Z1ff'"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("-lto drops functions that only inputs of other kinds call"), std::string::npos)
      << ran.output;
}

TEST_F(JitProgram, RunsWhatNvccMakes) {
  if (harness::kSanitized) GTEST_SKIP() << "nvcc's own programs do not bear a sanitized library";
  const harness::TemporaryFolder folder;
  const std::string load = kPrograms + "load k.cubin";
  const std::string in_folder = "cd " + folder.path().string() + " && " FAIRGV_NVCC " -arch=sm_75 ";
  for (const char* options : {"--cubin ", "-cubin -o k.cubin "}) {
    expect_output(on_driver({"/bin/sh", "-c", in_folder + options + FAIRGV_KERNEL + " && " + load}),
                  "PTX\n" + kResult);
  }
  const harness::CombinedRun failed =
      harness::run_combined(on_driver({"/bin/sh", "-c", in_folder + "-cubin none.cu"}));
  EXPECT_NE(failed.status, 0);
  EXPECT_NE(failed.output.find("none.cu"), std::string::npos) << failed.output;
  const harness::CombinedRun other = harness::run_combined(with_driver_in(
      FAIRGV_OTHER_DRIVER_DIR,
      {"/bin/sh", "-c",
       in_folder + "-cubin -o other.cubin " FAIRGV_KERNEL " && head -c 4 other.cubin && echo"}));
  EXPECT_NE(other.output.find("ELF"), std::string::npos) << other.output;
}

TEST_F(JitProgram, RunsAsATenantWithNothingSetByHand) {
  if (!fs::exists(FAIRGV_CUDA_DIR "/libcuda.so.1")) GTEST_SKIP() << "the CUDA front end is not here";
  auto tenancy = harness::Tenancy::start();
  ASSERT_TRUE(tenancy) << tenancy.error().message;
  const auto tenant = [&](std::vector<std::string> program) {
    return tenancy->tenant("alice", 2, std::move(program));
  };
  expect_output(tenant({kPrograms + "compile", FAIRGV_NVRTC, "run", "-arch=sm_75"}), kResult);
  // Its first call of the driver is the one that is made for it.
  expect_output(tenant({kPrograms + "compile", FAIRGV_NVRTC, "kind", "-arch=sm_75"}), "PTX\n");
  for (const char* way : {"ptx", "lto", "two", "mixed"})
    expect_output(tenant({kPrograms + "link", "run", way}), kResult);
}

}  // namespace
}  // namespace fairgv
