// The parts of the runtime libraries that need no device: the table of addresses, error texts, formats, and
// registration before anything is used.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cuda-shim/cudart/copy/array_format.hpp"
#include "cuda-shim/cudart/launch.hpp"
#include "cuda-shim/cudart/modules/address_table.hpp"
#include "cuda-shim/cudart/modules/registry.hpp"

namespace fairgv::cudart {
namespace {

const void* address(std::uintptr_t number) {
  return std::bit_cast<const void*>(number);
}

TEST(CudartAddressTable, FindsWhatWasInsertedLastAndNothingElse) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  AddressTable<int> table;
  std::unordered_map<std::uintptr_t, int*> model;
  std::vector<int> objects(64);
  for (int step = 0; step < 20000; ++step) {
    const std::uintptr_t key = 16 * (1 + random() % 3000);
    int* const object = &objects[random() % objects.size()];
    switch (random() % 4) {
      case 0:
      case 1:
        table.insert(address(key), object);
        model[key] = object;
        break;
      case 2:
        table.erase(address(key), object);
        if (const auto found = model.find(key); found != model.end() && found->second == object)
          model.erase(found);
        break;
      default: {
        const auto found = model.find(key);
        ASSERT_EQ(table.find(address(key)), found == model.end() ? nullptr : found->second) << key;
      }
    }
  }
  EXPECT_EQ(table.find(nullptr), nullptr);
  for (const auto& [key, object] : model) ASSERT_EQ(table.find(address(key)), object);
}

TEST(CudartAddressTable, ReadersSeeEarlierEntriesWhileItGrows) {
  AddressTable<const int> table;
  constexpr int kEntries = 20000;
  std::vector<int> objects(kEntries);
  std::atomic<int> published{0};  // release after insert, acquire in the readers
  std::vector<std::thread> readers;
  for (unsigned reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937 random(reader);
      for (;;) {
        const int count = published.load(std::memory_order_acquire);
        for (int i = 0; count > 0 && i < 50; ++i) {
          const auto entry = static_cast<std::size_t>(random() % static_cast<unsigned>(count));
          ASSERT_EQ(table.find(address(64 * (entry + 1))), &objects[entry]);
        }
        if (count == kEntries) return;
      }
    });
  }
  for (std::size_t i = 0; i < kEntries; ++i) {
    table.insert(address(64 * (i + 1)), &objects[i]);
    published.store(static_cast<int>(i + 1), std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
}

TEST(CudartErrors, NamesAndTextsAreThoseOfTheToolkitsLibrary) {
  const std::string toolkit = FAIRGV_TOOLKIT_CUDART;
  if (toolkit.empty()) GTEST_SKIP() << "the toolkit's libcudart.so.13 is not here";
  void* const library = dlopen(toolkit.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  using TextOf = const char* (*)(cudaError_t);
  const auto name_of = std::bit_cast<TextOf>(dlsym(library, "cudaGetErrorName"));
  const auto text_of = std::bit_cast<TextOf>(dlsym(library, "cudaGetErrorString"));
  ASSERT_TRUE(name_of != nullptr && text_of != nullptr);
  int known = 0;
  for (int code = 0; code < 1024; ++code) {
    const auto error = static_cast<cudaError_t>(code);
    EXPECT_STREQ(cudaGetErrorName(error), name_of(error)) << code;
    EXPECT_STREQ(cudaGetErrorString(error), text_of(error)) << code;
    known += std::string(name_of(error)) != "unrecognized error code" ? 1 : 0;
  }
  EXPECT_GT(known, 100);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorApiFailureBase), name_of(cudaErrorApiFailureBase));
  dlclose(library);
}

TEST(CudartErrors, DriverCodesBecomeTheRuntimesOwn) {
  EXPECT_EQ(runtime_error(CUDA_ERROR_OUT_OF_MEMORY), cudaErrorMemoryAllocation);
  EXPECT_EQ(runtime_error(CUDA_ERROR_INVALID_CONTEXT), cudaErrorDeviceUninitialized);
  EXPECT_EQ(runtime_error(CUDA_ERROR_NO_BINARY_FOR_GPU), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(runtime_error(CUDA_ERROR_INVALID_HANDLE), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(runtime_error(CUDA_ERROR_NOT_READY), cudaErrorNotReady);
  EXPECT_EQ(runtime_error(CUDA_ERROR_ASSERT), cudaErrorAssert);
  EXPECT_EQ(runtime_error(CUDA_ERROR_LAUNCH_FAILED), cudaErrorLaunchFailure);
  // The runtime has no code for these two.
  EXPECT_EQ(runtime_error(CUDA_ERROR_CONTEXT_ALREADY_CURRENT), cudaErrorUnknown);
  EXPECT_EQ(runtime_error(CUDA_ERROR_KEY_ROTATION), cudaErrorUnknown);
}

TEST(CudartFormats, EveryFormatComesBackAsItWas) {
  int formats = 0;
  for (int kind = 0; kind < cudaChannelFormatKindUnsignedBlockCompressed1; ++kind) {
    for (const int bits : {8, 16, 32}) {
      for (const int count : {1, 2, 4}) {
        const cudaChannelFormatDesc channels = {bits, count > 1 ? bits : 0, count > 2 ? bits : 0,
                                                count > 3 ? bits : 0,
                                                static_cast<cudaChannelFormatKind>(kind)};
        CUarray_format format{};
        unsigned int found = 0;
        if (driver_format(channels, format, found).failed()) continue;
        ++formats;
        EXPECT_EQ(found, static_cast<unsigned int>(count));
        EXPECT_EQ(element_bytes(format, found), static_cast<std::size_t>(bits / 8 * count));
        cudaChannelFormatDesc back{};
        ASSERT_FALSE(runtime_format(format, found, back).failed());
        EXPECT_TRUE(back.x == channels.x && back.y == channels.y && back.z == channels.z &&
                    back.w == channels.w && back.f == channels.f);
      }
    }
  }
  EXPECT_EQ(formats, 3 * 8 + 12);  // signed, unsigned and half or float, and the normalised ones
}

TEST(CudartFormats, WhatNoArrayCanHaveIsRefused) {
  CUarray_format format{};
  unsigned int count = 0;
  for (const cudaChannelFormatDesc& channels :
       {cudaChannelFormatDesc{8, 8, 8, 0, cudaChannelFormatKindUnsigned},
        cudaChannelFormatDesc{8, 16, 0, 0, cudaChannelFormatKindUnsigned},
        cudaChannelFormatDesc{8, 0, 8, 0, cudaChannelFormatKindUnsigned},
        cudaChannelFormatDesc{0, 0, 0, 0, cudaChannelFormatKindFloat},
        cudaChannelFormatDesc{8, 0, 0, 0, cudaChannelFormatKindFloat},
        cudaChannelFormatDesc{32, 0, 0, 0, cudaChannelFormatKindNone}})
    EXPECT_EQ(driver_format(channels, format, count).error(), cudaErrorInvalidChannelDescriptor);
}

// Functions that nvcc's constructors call (crt/host_runtime.h of the toolkit).
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* stub, char* device, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*);
void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int, std::size_t size, int, int);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* stub);
}

TEST(CudartRegistration, WhatIsTakenBackIsNotFoundAnyMore) {
  struct {
    std::uint32_t magic = 0x466243b1;
    std::uint32_t version = 1;
    const void* image = nullptr;
    const void* names = nullptr;
  } wrapper;
  static const char stub[2] = {};
  static char shadow = 0;
  static char device_name[] = "kernel";
  Registry& registry = Registry::instance();
  for (int round = 0; round < 3; ++round) {
    void** const handle = __cudaRegisterFatBinary(&wrapper);
    ASSERT_NE(handle, nullptr);
    __cudaRegisterFunction(handle, stub, device_name, device_name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    __cudaRegisterVar(handle, &shadow, nullptr, "variable", 0, 4, 0, 0);
    ASSERT_NE(registry.kernel(stub), nullptr);
    EXPECT_EQ(registry.kernel(stub)->name, "kernel");
    ASSERT_NE(registry.variable(&shadow), nullptr);
    EXPECT_EQ(registry.variable(&shadow)->size, 4u);
    cudaKernel_t kernel = nullptr;
    EXPECT_EQ(__cudaGetKernel(&kernel, stub), cudaSuccess) << "known without a driver";
    EXPECT_NE(kernel, nullptr);
    EXPECT_EQ(__cudaGetKernel(&kernel, stub + 1), cudaErrorInvalidDeviceFunction);
    __cudaUnregisterFatBinary(handle);
    EXPECT_EQ(registry.kernel(stub), nullptr);
    EXPECT_EQ(registry.variable(&shadow), nullptr);
  }
}

TEST(CudartLaunch, ConfigurationsNestAndRunOutAtBothEnds) {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
  unsigned int depth = 0;
  while (depth < 1000 && __cudaPushCallConfiguration(dim3(depth + 1), dim3(2), depth, nullptr) == 0) ++depth;
  EXPECT_GE(depth, 8u);
  EXPECT_LT(depth, 1000u);
  while (depth > 0) {
    ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
    EXPECT_EQ(grid.x, depth);
    EXPECT_EQ(shared, --depth);
  }
}

}  // namespace
}  // namespace fairgv::cudart
