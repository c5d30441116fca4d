// Programs in CUDA, compiled by nvcc with -cudart shared, run over our libcudart.so.13 and the software
// libcuda.so.1. FAIRGV_TEST_LIBCUDA=system runs them over the machine's own driver instead (tests/gpu);
// =tenant runs them over FairGV's own libcuda.so.1, and =direct over that of direct programs, under a daemon
// that FAIRGV_SOCKET names.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status;
  std::string output;
};

Outcome run(const std::string& environment, const std::string& command) {
  // A program that hangs ends with status 124.
  const std::string line = "env " + environment + " timeout -k 5 240 " + command + " 2>&1";
  std::FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  Outcome outcome{0, ""};
  char buffer[4096];
  for (std::size_t read = 0; (read = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.output.append(buffer, read);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

class CudartProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (std::strlen(FAIRGV_PROGRAM_DIR) == 0) GTEST_SKIP() << "nvcc is not here";
    const char* const which = std::getenv("FAIRGV_TEST_LIBCUDA");
    if (which != nullptr && std::strcmp(which, "system") == 0) return;
    if (which != nullptr && std::strcmp(which, "tenant") == 0) {
      driver_ = ":" FAIRGV_TENANT_CUDA_DIR;
      return;
    }
    if (which != nullptr && std::strcmp(which, "direct") == 0) {
      driver_ = ":" FAIRGV_DIRECT_CUDA_DIR;
      return;
    }
    if (!fs::exists(FAIRGV_SOFTCUDA_DIR "/libcuda.so.1"))
      GTEST_SKIP() << "the software libcuda.so.1 is not here";
    driver_ = ":" FAIRGV_SOFTCUDA_DIR;
  }

  Outcome run_at(const std::string& command) {
    // Memory that the OpenCL implementation beneath keeps until the end is no leak of ours.
    return run("ASAN_OPTIONS=detect_leaks=0 LD_LIBRARY_PATH=" FAIRGV_CUDART_DIR + driver_, command);
  }
  Outcome run_program(const std::string& arguments) { return run_at(FAIRGV_PROGRAM_DIR "/" + arguments); }

  // The program ends well, having said that it passed these cases.
  void expect_passes(const std::string& arguments, std::initializer_list<const char*> passed) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    for (const char* name : passed)
      EXPECT_NE(outcome.output.find(std::string("passed ") + name + "\n"), std::string::npos)
          << outcome.output;
  }

 private:
  std::string driver_;
};

TEST_F(CudartProgram, MemoryOfEveryKindHoldsWhatKernelsAndCopiesWrite) {
  expect_passes("memory", {"vector_add", "symbols", "managed", "pitched", "boxes", "arrays", "host_memory",
                           "pools", "registered_memory", "registered_by_threads"});
}

TEST_F(CudartProgram, ManagedVariablesHaveWhatBothSidesWrite) {
  expect_passes("managed", {"first_access", "both_sides_write", "every_wait_counts", "large_ones",
                            "calls_see_them", "graphs_too", "threads"});
}

TEST_F(CudartProgram, TexturesAndSurfacesReadAndWriteArraysOfEveryKind) {
  expect_passes(
      "textures array_2d bytes_as_numbers pitched volumes layers cubemaps gathering mipmaps descriptions",
      {"array_2d", "bytes_as_numbers", "pitched", "volumes", "layers", "cubemaps", "gathering", "mipmaps",
       "descriptions"});
  expect_passes("surfaces", {"surfaces", "volume_surfaces", "copies", "order"});
}

TEST_F(CudartProgram, WhatIsNoTextureIsRefusedWithItsDocumentedCode) {
  const char* const which = std::getenv("FAIRGV_TEST_LIBCUDA");
  if (which != nullptr && std::strcmp(which, "system") == 0)
    GTEST_SKIP() << "NVIDIA's driver follows handles that are none";  // and the program would crash
  expect_passes("textures errors", {"errors"});
}

TEST_F(CudartProgram, AnAccessOutsideASurfaceSticks) {
  expect_passes("surfaces outside", {"outside"});
}

TEST_F(CudartProgram, LaunchesStreamsEventsAndErrorsAreAsDocumented) {
  expect_passes("execution", {"launches", "callbacks", "events", "functions", "devices", "errors", "threads",
                              "libraries", "reset"});
}

TEST_F(CudartProgram, PerThreadDefaultStreamsAreTheThreadsOwn) {
  expect_passes("per_thread", {"streams_are_apart", "variants"});
}

TEST_F(CudartProgram, KernelsRunBeforeMainAndStaticNamesOfFilesAreTheirOwn) {
  expect_passes("linked", {"linked"});
}

TEST_F(CudartProgram, UnitsThatAreLinkedMeetAndKeepTheirOwnNames) {
  for (const char* name : {"units", "units_text"})
    expect_passes(name, {"functions_and_variables", "classes_and_pointers", "managed"});
}

TEST_F(CudartProgram, CallsAfterMainDoNoHarm) {
  expect_passes("linked after_main", {"linked", "after_main"});
}

TEST_F(CudartProgram, ALibraryWithKernelsCanBeOpenedAndClosedAgainAndAgain) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP()
      << "ThreadSanitizer's atexit() forgets whose the handler is, and calls it when the library is gone";
#endif
  expect_passes("plugin_host " FAIRGV_PROGRAM_DIR "/plugin.so", {"plugin"});
}

TEST_F(CudartProgram, AFailedAssertionSticks) {
  expect_passes("broken failed_assertion", {"failed_assertion"});
}

TEST_F(CudartProgram, ATrapSticks) {
  expect_passes("broken trap", {"trap"});
}

TEST_F(CudartProgram, GraphsAreCapturedBuiltNestedUpdatedAndLaunchedAgain) {
  const char* const which = std::getenv("FAIRGV_TEST_LIBCUDA");
  if (which != nullptr && std::strcmp(which, "system") == 0 &&
      run_program("graphs").output == "unsupported\n")
    GTEST_SKIP() << "this driver has no graphs";
  expect_passes("graphs", {"captured", "built", "forked", "nested", "updated", "hosted", "errors"});
}

TEST_F(CudartProgram, KernelsDecideWhatOfAGraphRuns) {
  for (const char* program : {"conditional", "conditional_units"}) {
    const Outcome asked = run_program(program + std::string(" none"));
    // Behind FairGV's own line, where a tenant is over NVIDIA's driver. Never on the software device.
    if (asked.status == 0 && asked.output.find("unsupported on ") != std::string::npos) {
      ASSERT_EQ(asked.output.find("FairGV soft device"), std::string::npos) << asked.output;
      GTEST_SKIP() << "there are no conditional nodes";
    }
    expect_passes(program, {"loops", "converges", "chooses", "nested"});
  }
}

TEST_F(CudartProgram, AProgramOfCuda12GetsItsOwnStructuresAndSignatures) {
  const Outcome outcome = run_at(FAIRGV_ABI_12_PROGRAM);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("passed abi_12\n"), std::string::npos) << outcome.output;
}

/// A folder with a file of the driver's name that is no driver, which hides every other driver.
class NoDriver {
 public:
  NoDriver() {
    fs::create_directory(folder_);
    fs::create_symlink("/dev/null", folder_ / "libcuda.so.1");
  }
  ~NoDriver() { fs::remove_all(folder_); }
  Outcome run_program(const std::string& name) const {
    return run("LD_LIBRARY_PATH=" FAIRGV_CUDART_DIR ":" + folder_.string(), FAIRGV_PROGRAM_DIR "/" + name);
  }

 private:
  const fs::path folder_ = fs::temp_directory_path() / ("fairgv-no-driver-" + std::to_string(getpid()));
};

// nvcc's code goes through a null pointer then.
TEST_F(CudartProgram, AManagedVariableThatCannotBeHadIsReported) {
  const Outcome outcome = NoDriver().run_program("managed");
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.output.find("fairgv cudart: a __managed__ variable is used, but the code that has it "
                                "cannot be loaded (cudaErrorInsufficientDriver"),
            std::string::npos)
      << outcome.output;
}

TEST_F(CudartProgram, WithoutADriverEveryCallSaysSo) {
  const Outcome outcome = NoDriver().run_program("no_driver");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("passed no_driver\n"), std::string::npos) << outcome.output;
}

}  // namespace
