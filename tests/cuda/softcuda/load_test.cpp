// Code: modules of every container, libraries.
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <thread>

#include "fixture.hpp"

namespace {

/// The record that a compiled program registers (fatbinary_section.h of the toolkit).
struct Wrapper {
  unsigned magic = 0x466243B1;
  unsigned version = 1;
  const void* data = nullptr;
  const void* more = nullptr;
};

void expect_adds(CUfunction add) {
  constexpr int kCount = 1000;
  std::vector<float> a(kCount);
  std::vector<float> b(kCount);
  for (int at = 0; at < kCount; ++at) {
    a[static_cast<std::size_t>(at)] = static_cast<float>(at);
    b[static_cast<std::size_t>(at)] = static_cast<float>(3 * at);
  }
  std::array<CUdeviceptr, 3> memory{};
  for (auto& each : memory) ASSERT_OK(cuMemAlloc(&each, kCount * sizeof(float)));
  upload(memory[0], a);
  upload(memory[1], b);
  int count = kCount;
  void* arguments[] = {&memory[0], &memory[1], &memory[2], &count};
  ASSERT_OK(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  const auto sum = download<float>(memory[2], kCount);
  for (std::size_t at = 0; at < kCount; ++at) {
    ASSERT_EQ(a[at] + b[at] + 0.5F + static_cast<float>(at % 4), sum[at]) << at;
  }
}

}  // namespace

TEST_F(WithContext, CodeIsLoadedFromEveryContainer) {
  const auto try_module = [](CUmodule module) {
    CUfunction add = nullptr;
    ASSERT_OK(cuModuleGetFunction(&add, module, "add"));
    expect_adds(add);
    EXPECT_OK(cuModuleUnload(module));
    EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  };
  CUmodule module = nullptr;
  for (const char* name : {"kernels.ptx", "stored.fatbin", "lz4.fatbin", "zstd.fatbin", "mixed.fatbin"}) {
    SCOPED_TRACE(name);
    ASSERT_OK(cuModuleLoad(&module, file_path(name).c_str()));
    try_module(module);
  }
  const std::string ptx = file_bytes("kernels.ptx");
  ASSERT_OK(cuModuleLoadData(&module, ptx.c_str()));
  try_module(module);
  const std::string fatbin = file_bytes("zstd.fatbin");
  ASSERT_OK(cuModuleLoadFatBinary(&module, fatbin.data()));
  try_module(module);
  Wrapper wrapper;
  wrapper.data = fatbin.data();
  ASSERT_OK(cuModuleLoadData(&module, &wrapper));
  try_module(module);
  const std::array<const void*, 2> list{fatbin.data(), nullptr};
  wrapper = {0x466243B1, 2, nullptr, list.data()};
  ASSERT_OK(cuModuleLoadData(&module, &wrapper));
  try_module(module);
  wrapper.version = 3;
  EXPECT_CODE(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &wrapper));
}

TEST_F(WithContext, WhatCannotBeLoadedIsRefusedWithItsReason) {
  CUmodule module = nullptr;
  EXPECT_CODE(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nonexistent/kernels.ptx"));
  EXPECT_CODE(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoad(&module, file_path("kernels.cubin").c_str()));
  std::array<char, 300> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const char* const bad =
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry f()\n{\nnonsense.u32 %r1\n}\n";
  EXPECT_CODE(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, bad, 2, options, values));
  EXPECT_NE(nullptr, std::strstr(log.data(), "PTX line 7")) << log.data();
  EXPECT_EQ(std::strlen(log.data()), reinterpret_cast<std::size_t>(values[1]));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, nullptr));
}

TEST_F(WithContext, LibrariesServeEveryContext) {
  CUlibrary library = nullptr;
  const std::string fatbin = file_bytes("lz4.fatbin");
  ASSERT_OK(cuLibraryLoadData(&library, fatbin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  ASSERT_OK(cuLibraryGetKernel(&kernel, library, "add"));
  EXPECT_CODE(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&kernel, library, "nothing"));
  expect_adds(reinterpret_cast<CUfunction>(kernel));  // as cudart launches it
  const auto set_counter = [library](int value) {
    CUdeviceptr counter = 0;
    std::size_t bytes = 0;
    EXPECT_OK(cuLibraryGetGlobal(&counter, &bytes, library, "counter"));
    EXPECT_EQ(sizeof value, bytes);
    const int before = download<int>(counter, 1)[0];
    EXPECT_OK(cuMemcpyHtoD(counter, &value, sizeof value));
    return before;
  };
  EXPECT_EQ(7, set_counter(100));
  EXPECT_EQ(100, set_counter(100));
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device_));
  EXPECT_EQ(7, set_counter(5));  // variables are of a context
  expect_adds(reinterpret_cast<CUfunction>(kernel));
  EXPECT_OK(cuCtxDestroy(other));
  unsigned count = 0;
  EXPECT_OK(cuLibraryGetKernelCount(&count, library));
  std::vector<CUkernel> kernels(count);
  EXPECT_OK(cuLibraryEnumerateKernels(kernels.data(), count, library));
  std::vector<std::string> names;
  for (const CUkernel each : kernels) {
    const char* name = nullptr;
    EXPECT_OK(cuKernelGetName(&name, each));
    names.emplace_back(name);
  }
  EXPECT_NE(names.end(), std::find(names.begin(), names.end(), "reverse"));
  EXPECT_OK(cuLibraryUnload(library));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetKernel(&kernel, library, "add"));
}
