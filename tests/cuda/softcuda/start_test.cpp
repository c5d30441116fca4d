// Initialisation, devices, contexts, result codes, entry points by name.
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <set>
#include <sstream>
#include <thread>

#include "fixture.hpp"

namespace {

std::set<std::string> exported_by(const std::string& library) {
  std::set<std::string> names;
  const std::string command = "nm -D --defined-only '" + library + "' 2>/dev/null";
  FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) return names;
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    std::istringstream words(line.data());
    std::string address, kind, name;
    if (words >> address >> kind >> name && kind == "T") names.insert(name);
  }
  pclose(output);
  return names;
}

}  // namespace

TEST(SoftCudaSymbols, ExportsExactlyWhatTheToolkitsOwnLibraryExports) {
  const auto wanted = exported_by(FAIRGV_CUDA_STUB);
  if (wanted.empty()) GTEST_SKIP() << "no stub library or no nm: " << FAIRGV_CUDA_STUB;
  Dl_info info{};
  ASSERT_NE(0, dladdr(reinterpret_cast<void*>(&cuInit), &info));
  auto exported = exported_by(info.dli_fname);
  if (!is_tenant()) {
    for (const char* name :
         {"cuFairgvAddPromptCallback", "cuFairgvHeap", "cuFairgvHoldNextLaunch", "cuFairgvLetLaunchGo",
          "cuFairgvModuleMemory", "cuFairgvOpenclDevice", "cuFairgvPlaceNext"}) {
      EXPECT_EQ(exported.erase(name), 1U) << "the worker calls this function";
    }
  }
  EXPECT_EQ(wanted, exported);
}

TEST(SoftCudaSymbols, AreFoundByNameVersionAndDefaultStream) {
  const auto find = [](const char* name, int version, cuuint64_t flags,
                       CUdriverProcAddressQueryResult* status) {
    void* function = nullptr;
    const CUresult code = cuGetProcAddress(name, &function, version, flags, status);
    EXPECT_EQ(code == CUDA_SUCCESS, function != nullptr) << name;
    return function;
  };
  const auto symbol = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  CUdriverProcAddressQueryResult status{};
  EXPECT_EQ(symbol("cuMemAlloc_v2"), find("cuMemAlloc", 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SUCCESS, status);
  EXPECT_EQ(symbol("cuMemAlloc"), find("cuMemAlloc", 3000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(symbol("cuCtxCreate_v4"), find("cuCtxCreate", 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(symbol("cuCtxCreate_v3"), find("cuCtxCreate", 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(symbol("cuLaunchKernel_ptsz"),
            find("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
  EXPECT_EQ(symbol("cuLaunchKernel"),
            find("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status));
  // A call without a variant of its own is the same for both default streams.
  EXPECT_EQ(symbol("cuInit"), find("cuInit", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
  // A call with a variant is not found for versions before that variant, and the other stream's is not given
  // instead.
  EXPECT_EQ(symbol("cuMemsetD8_v2"), find("cuMemsetD8", 3020, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status));
  EXPECT_EQ(nullptr, find("cuMemsetD8", 3020, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, status);
  EXPECT_EQ(symbol("cuMemsetD8_v2_ptds"),
            find("cuMemsetD8", 7000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
  EXPECT_EQ(nullptr, find("cuLaunchKernelEx", 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, status);
  EXPECT_EQ(nullptr, find("cuNoSuchCall", 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, status);
  void* function = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress(nullptr, &function, 13000, 0, &status));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &function, 13000, 8, &status));
}

TEST(SoftCudaSymbols, WhatIsNotServedSaysSo) {
  CUmemGenericAllocationHandle multicast = 0;
  const CUmulticastObjectProp properties{};
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuMulticastCreate(&multicast, &properties));
  const void* table = nullptr;
  const CUuuid id{};
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGetExportTable(&table, &id));
}

TEST(SoftCudaErrors, HaveTheNamesAndTextsOfNvidia) {
  const char* text = nullptr;
  EXPECT_OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ("CUDA_ERROR_ILLEGAL_ADDRESS", text);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(1001), &text));
  EXPECT_EQ(nullptr, text);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGetErrorString(static_cast<CUresult>(1001), &text));
  void* const runtime = dlopen(FAIRGV_CUDART, RTLD_NOW | RTLD_LOCAL);
  if (runtime == nullptr) GTEST_SKIP() << "no CUDA runtime to compare with: " << FAIRGV_CUDART;
  const auto theirs = reinterpret_cast<const char* (*)(int)>(dlsym(runtime, "cudaGetErrorString"));
  ASSERT_NE(nullptr, theirs);
  int compared = 0;
  for (int code = 0; code < 1000; ++code) {
    const char* ours = nullptr;
    if (cuGetErrorString(static_cast<CUresult>(code), &ours) != CUDA_SUCCESS) continue;
    if (std::strcmp(theirs(code), "unrecognized error code") == 0)
      continue;  // the driver has a few of its own
    EXPECT_STREQ(theirs(code), ours) << code;
    ++compared;
  }
  EXPECT_GT(compared, 90);
}

TEST(SoftCudaStart, ContextComesBeforeEverythingElse) {
  std::thread([] {
    ASSERT_OK(cuInit(0));
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    CUdeviceptr address = 0;
    EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&address, 16));
    EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    CUcontext context = nullptr;
    EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&context));
    EXPECT_OK(cuCtxGetCurrent(&context));
    EXPECT_EQ(nullptr, context);
    int version = 0;
    EXPECT_OK(cuDriverGetVersion(&version));
    EXPECT_EQ(13000, version);
  }).join();
}

TEST_F(WithContext, DeviceIsDescribedConsistently) {
  int count = 0;
  EXPECT_OK(cuDeviceGetCount(&count));
  EXPECT_EQ(1, count);
  CUdevice other = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&other, 1));
  char name[256] = {};
  EXPECT_OK(cuDeviceGetName(name, sizeof name, device_));
  EXPECT_EQ(0, std::strncmp(name, "FairGV soft device (", 20)) << name;
  const auto attribute = [this](CUdevice_attribute which) {
    int value = -1;
    EXPECT_OK(cuDeviceGetAttribute(&value, which, device_));
    return value;
  };
  EXPECT_EQ(32, attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  EXPECT_EQ(8, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(0, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_LE(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_GE(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
            attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  EXPECT_GE(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 1);
  EXPECT_EQ(1, attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING));
  EXPECT_EQ(1, attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH));
  int value = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), device_));
  EXPECT_CODE(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 3));
  std::size_t bytes = 0;
  EXPECT_OK(cuDeviceTotalMem(&bytes, device_));
  EXPECT_GT(bytes, 1U << 20U);
  CUuuid first{};
  CUuuid second{};
  EXPECT_OK(cuDeviceGetUuid(&first, device_));
  EXPECT_OK(cuDeviceGetUuid(&second, device_));
  EXPECT_EQ(0, std::memcmp(&first, &second, sizeof first));
  int can = 1;
  EXPECT_OK(cuDeviceCanAccessPeer(&can, device_, device_));
  EXPECT_EQ(0, can);
}

TEST_F(WithContext, ContextStackIsPerThreadAndLastInFirstOut) {
  CUcontext second = nullptr;
  ASSERT_OK(cuCtxCreate(&second, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, device_));
  CUcontext current = nullptr;
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(second, current);
  unsigned flags = 0;
  EXPECT_OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(unsigned{CU_CTX_SCHED_BLOCKING_SYNC}, flags);
  std::thread([] {
    CUcontext other = nullptr;
    EXPECT_OK(cuCtxGetCurrent(&other));
    EXPECT_EQ(nullptr, other);
  }).join();
  EXPECT_OK(cuCtxPopCurrent(&current));
  EXPECT_EQ(second, current);
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(context_, current);
  EXPECT_OK(cuCtxDestroy(second));
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(second));
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(second));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(&second, nullptr, 3, device_));
  std::size_t stack = 0;
  EXPECT_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  EXPECT_OK(cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(4096U, stack);
  EXPECT_CODE(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit(&stack, CU_LIMIT_PERSISTING_L2_CACHE_SIZE));
}

TEST_F(WithContext, ContextThatIsDestroyedElsewhereIsSaidToBe) {
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device_));
  std::thread([other] { EXPECT_OK(cuCtxDestroy(other)); }).join();
  CUdeviceptr address = 0;
  EXPECT_CODE(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&address, 16));
  EXPECT_OK(cuCtxPopCurrent(nullptr));
  EXPECT_OK(cuMemAlloc(&address, 16));
}

TEST_F(WithContext, PrimaryContextIsSharedAndCounted) {
  unsigned flags = 9;
  int active = 1;
  EXPECT_OK(cuDevicePrimaryCtxGetState(device_, &flags, &active));
  EXPECT_EQ(0, active);
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  EXPECT_OK(cuDevicePrimaryCtxSetFlags(device_, CU_CTX_SCHED_YIELD));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&first, device_));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&second, device_));
  EXPECT_EQ(first, second);
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(first));
  EXPECT_OK(cuDevicePrimaryCtxRelease(device_));
  EXPECT_OK(cuDevicePrimaryCtxGetState(device_, &flags, &active));
  EXPECT_EQ(1, active);
  EXPECT_EQ(unsigned{CU_CTX_SCHED_YIELD}, flags);
  EXPECT_OK(cuDevicePrimaryCtxReset(device_));
  EXPECT_OK(cuDevicePrimaryCtxGetState(device_, &flags, &active));
  EXPECT_EQ(0, active);
  EXPECT_OK(cuDevicePrimaryCtxRelease(device_));  // a reset does not release
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(device_));
}
