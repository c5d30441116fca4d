// The libcuda.so.1 of direct programs over the software driver, without a session: what it exports, and where
// its functions lead.
#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "cuda-shim/api/entry/entry_points.hpp"
#include "tests/cuda/exported_names.hpp"

namespace {

/// Functions that must have a gate.
std::set<std::string> gated() {
  std::set<std::string> names{"cuInit",
                              "cuGetProcAddress",
                              "cuGetProcAddress_v2",
                              "cuMemAlloc_v2",
                              "cuMemFree_v2",
                              "cuMemGetInfo_v2",
                              "cuMemAllocAsync_ptsz",
                              "cuArrayCreate_v2",
                              "cuStreamDestroy_v2",
                              "cuMemCreate",
                              "cuStreamEndCapture"};
#define FAIRGV_WORK(symbol, work) names.insert(#symbol);
#include "cuda-shim/direct/gates/work_gates.def"
#undef FAIRGV_WORK
  return names;
}

}  // namespace

class PassThrough : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_NE(std::getenv("FAIRGV_CUDA_DRIVER"), nullptr) << "this test runs by ctest";
    library_ = ::dlopen(FAIRGV_DIRECT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    // The same library again: the interposer has loaded it.
    driver_ = ::dlopen(FAIRGV_SOFTCUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    ASSERT_NE(driver_, nullptr) << "the software driver is not loaded";
  }
  template <class Function>
  static Function* ours(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }

  static inline void* library_ = nullptr;
  static inline void* driver_ = nullptr;
};

TEST(DirectLibrary, ExportsExactlyWhatTheToolkitsOwnLibraryExports) {
  const auto wanted = exported_by(FAIRGV_CUDA_STUB);
  if (wanted.empty()) GTEST_SKIP() << "no stub library or no nm: " << FAIRGV_CUDA_STUB;
  EXPECT_EQ(wanted, exported_by(FAIRGV_DIRECT_LIBRARY));
}

TEST_F(PassThrough, TwoLibrariesOfOneNameAreKeptApart) {
  EXPECT_NE(library_, driver_);
  for (const auto& entry : fairgv::cuda::entry_points()) {
    void* const its = ::dlsym(driver_, entry.symbol);
    ASSERT_NE(its, nullptr) << entry.symbol;
    EXPECT_NE(::dlsym(library_, entry.symbol), its) << entry.symbol;
  }
}

TEST_F(PassThrough, FunctionsWithoutAGateAreTheDrivers) {
  int version = 0;
  EXPECT_EQ(CUDA_SUCCESS, ours<decltype(::cuDriverGetVersion)>("cuDriverGetVersion")(&version));
  int its = 0;
  reinterpret_cast<decltype(&::cuDriverGetVersion)>(::dlsym(driver_, "cuDriverGetVersion"))(&its);
  EXPECT_EQ(its, version);
  const char* text = nullptr;
  EXPECT_EQ(CUDA_SUCCESS,
            ours<decltype(::cuGetErrorName)>("cuGetErrorName")(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ("CUDA_ERROR_ILLEGAL_ADDRESS", text);
  // A float among the arguments arrives, too.
  EXPECT_EQ(CUDA_ERROR_NOT_INITIALIZED, ours<decltype(::cuCtxSynchronize)>("cuCtxSynchronize")());
}

TEST_F(PassThrough, EntryPointsByNameAreTheDriversUnlessTheyHaveAGate) {
  std::set<std::string> missing = gated();
  for (const auto& entry : fairgv::cuda::entry_points()) {
    const bool per_thread = entry.stream == fairgv::cuda::DefaultStreamKind::per_thread;
    const cuuint64_t flags =
        per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    void* answer = nullptr;
    CUdriverProcAddressQueryResult status{};
    const CUresult code = ours<decltype(::cuGetProcAddress)>("cuGetProcAddress_v2")(
        entry.name, &answer, entry.version, flags, &status);
    ASSERT_EQ(CUDA_SUCCESS, code) << entry.symbol;
    // Never another function's, nor one past its gate.
    const bool gate = answer == ::dlsym(library_, entry.symbol);
    if (gate) missing.erase(entry.symbol);
    EXPECT_TRUE(gate || answer == ::dlsym(driver_, entry.symbol)) << entry.symbol;
  }
  EXPECT_TRUE(missing.empty()) << *missing.begin() << " is answered past its gate";
}

TEST_F(PassThrough, WithoutADaemonThereIsNoDeviceAndALineSaysWhy) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(CUDA_ERROR_NO_DEVICE, ours<decltype(::cuInit)>("cuInit")(0));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("/nonexistent/fairgvd.sock"), std::string::npos) << said;
  // The driver was not started behind the daemon's back.
  int count = 0;
  EXPECT_EQ(CUDA_ERROR_NOT_INITIALIZED, ours<decltype(::cuDeviceGetCount)>("cuDeviceGetCount")(&count));
}
