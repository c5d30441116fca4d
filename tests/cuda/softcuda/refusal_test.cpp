// Code that cannot be translated is refused alone: kernels at their first use, and not their module. And the
// limits of a context that bound its kernels: the call stack and the heap.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "fixture.hpp"

namespace {

constexpr const char* kHalf =
    ".version 8.0\n.target sm_75\n.address_size 64\n.global .texref t;\n"
    ".visible .entry bad()\n{\nfrobnicate.u32;\nret;\n}\n"
    ".visible .entry good(.param .u64 p)\n{\n.reg .b64 %d;\nld.param.u64 %d, [p];\n"
    "st.global.u32 [%d], 5;\nret;\n}\n";

/// The call's words on standard error. A tenant's driver is in another process.
template <typename Call>
std::string said_by(Call call) {
  testing::internal::CaptureStderr();
  call();
  return testing::internal::GetCapturedStderr();
}

}  // namespace

TEST_F(WithContext, AKernelThatCannotBeTranslatedIsRefusedAndNotItsModule) {
  CUmodule module = nullptr;
  ASSERT_OK(cuModuleLoadData(&module, kHalf));
  CUfunction good = nullptr;
  ASSERT_OK(cuModuleGetFunction(&good, module, "good"));
  const CUdeviceptr out = allocate(sizeof(int));
  void* arguments[] = {const_cast<CUdeviceptr*>(&out)};
  EXPECT_OK(cuLaunchKernel(good, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(5, download<int>(out, 1)[0]);
  CUfunction bad = nullptr;
  const auto ask = [&] { EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuModuleGetFunction(&bad, module, "bad")); };
  const std::string said = said_by(ask);
  CUdeviceptr texture = 0;
  const auto ask_variable = [&] {
    const CUresult code = cuModuleGetGlobal(&texture, nullptr, module, "t");
    EXPECT_TRUE(code == CUDA_ERROR_NOT_SUPPORTED || is_tenant()) << code_name(code);
    EXPECT_NE(CUDA_SUCCESS, code);
  };
  const std::string said_of_variable = said_by(ask_variable);
  if (!is_tenant()) {
    EXPECT_NE(std::string::npos, said.find("kernel 'bad'")) << said;
    EXPECT_NE(std::string::npos, said.find("PTX line 7: `frobnicate.u32")) << said;
    EXPECT_EQ(1, std::count(said.begin(), said.end(), '\n')) << said;
    EXPECT_EQ("", said_by(ask)) << "once is enough";
    EXPECT_NE(std::string::npos, said_of_variable.find("variable 't'")) << said_of_variable;
  }
  EXPECT_OK(cuModuleUnload(module));
}

TEST_F(WithContext, TheLogOfALoadNamesWhatIsRefused) {
  if (is_tenant()) GTEST_SKIP() << "the log is the worker's";
  std::array<char, 1000> log{};
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  ASSERT_OK(cuModuleLoadDataEx(&module, kHalf, 2, options, values));
  EXPECT_NE(nullptr, std::strstr(log.data(), "kernel 'bad'")) << log.data();
  EXPECT_NE(nullptr, std::strstr(log.data(), "variable 't'")) << log.data();
  EXPECT_EQ(nullptr, std::strstr(log.data(), "good")) << log.data();
}

TEST_F(WithContext, AKernelOfALibraryIsRefusedWhenItIsLaunched) {
  CUlibrary library = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, kHalf, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel bad = nullptr;
  const CUresult found = cuLibraryGetKernel(&bad, library, "bad");
  if (found == CUDA_SUCCESS) {
    const auto launch = [&] {
      EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernel(reinterpret_cast<CUfunction>(bad), 1, 1, 1, 1, 1,
                                                           1, 0, nullptr, nullptr, nullptr));
    };
    const std::string said = said_by(launch);
    EXPECT_TRUE(is_tenant() || said.find("frobnicate") != std::string::npos) << said;
  } else {
    EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, found);
  }
  EXPECT_OK(cuLibraryUnload(library));
}

TEST_F(WithModule, TheStackIsAsLargeAsItsLimit) {
  const auto deep = [](unsigned n) {
    unsigned value = 1;
    for (unsigned i = 1; i <= n; ++i) value = (value * 3) ^ i;
    return value;
  };
  const CUdeviceptr out = allocate(sizeof(unsigned));
  EXPECT_OK(launch("recurse", 1, 1, nullptr, out, 60U));
  EXPECT_EQ(deep(60), download<unsigned>(out, 1)[0]) << "within the initial limit";
  EXPECT_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 128 << 10));
  EXPECT_OK(launch("recurse", 1, 1, nullptr, out, 5000U));
  EXPECT_EQ(deep(5000), download<unsigned>(out, 1)[0]);
  if (is_tenant()) return;  // a fault sticks to the process there
  EXPECT_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
  EXPECT_OK(launch("recurse", 1, 1, nullptr, out, 5000U));
  EXPECT_CODE(CUDA_ERROR_HARDWARE_STACK_ERROR, cuCtxSynchronize());
}

TEST_F(WithModule, TheHeapIsAsLargeAsItsLimit) {
  constexpr std::size_t kBytes = 3 << 20;
  EXPECT_OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, kBytes));
  const CUdeviceptr block = allocate(sizeof(std::uint64_t));
  const auto allocated = [&](unsigned long long bytes) {
    EXPECT_OK(launch("allocate", 1, 1, nullptr, block, bytes));
    return download<std::uint64_t>(block, 1)[0];
  };
  EXPECT_EQ(0U, allocated(kBytes + 1));
  EXPECT_NE(0U, allocated(kBytes / 2));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 2 * kBytes));
  EXPECT_OK(launch("release", 1, 1, nullptr, block));
  EXPECT_NE(0U, allocated(kBytes - 16)) << "all of it has come back";
  EXPECT_OK(launch("release", 1, 1, nullptr, block));
  if (is_tenant()) return;
  EXPECT_OK(launch("release", 1, 1, nullptr, block));
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

TEST_F(WithModule, APointerThatLeadsToNoFunctionEndsTheLaunch) {
  if (is_tenant()) GTEST_SKIP() << "a fault sticks to the process";
  EXPECT_OK(launch("call_at", 1, 1, nullptr, CUdeviceptr{0x12345}));
  EXPECT_CODE(CUDA_ERROR_INVALID_PC, cuCtxSynchronize());
}

TEST_F(WithModule, BlocksOfACooperativeLaunchWaitForEachOther) {
  int cooperative = 0;
  EXPECT_OK(cuDeviceGetAttribute(&cooperative, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, device_));
  EXPECT_EQ(1, cooperative);
  constexpr unsigned kBlocks = 7;
  int rounds = 4;
  std::vector<int> values{1, 2, 3, 4, 5, 6, 7};
  CUdeviceptr memory = allocate(kBlocks * sizeof(int));
  upload(memory, values);
  void* arguments[] = {&memory, &rounds};
  const CUfunction add = function("add_neighbours");
  EXPECT_OK(cuLaunchCooperativeKernel(add, kBlocks, 1, 1, 64, 1, 1, 0, nullptr, arguments));
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> before = values;
    for (unsigned i = 0; i < kBlocks; ++i) values[i] += before[(i + 1) % kBlocks];
  }
  EXPECT_EQ(values, download<int>(memory, kBlocks));
  if (is_tenant()) return;  // refusals of launches come later, and faults stick to the process
  int units = 0;
  int blocks = 0;
  EXPECT_OK(cuDeviceGetAttribute(&units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_));
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 64, 0));
  const auto most = static_cast<unsigned>(units * blocks);
  EXPECT_CODE(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
              cuLaunchCooperativeKernel(add, most + 1, 1, 1, 64, 1, 1, 0, nullptr, arguments));
  EXPECT_OK(cuCtxSynchronize());
  // Outside of a cooperative launch there is no barrier: cooperative groups trap.
  EXPECT_OK(cuLaunchKernel(add, kBlocks, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_INSTRUCTION, cuCtxSynchronize());
}
