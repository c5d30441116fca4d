// The functions by which FairGV's worker puts memory where another process had it. Tenants' library has none.
#include <dlfcn.h>

#include <cstddef>
#include <type_traits>

#include "tests/cuda/softcuda/fixture.hpp"

namespace {

struct PlacedMemory : WithModule {
  void SetUp() override {
    const auto find = [](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
    };
    find("cuFairgvPlaceNext", place_next);
    find("cuFairgvModuleMemory", module_memory);
    find("cuFairgvHeap", heap);
    if (place_next == nullptr)
      GTEST_SKIP() << "it is another driver (start_test.cpp says which must have it)";
    WithModule::SetUp();
  }

  void (*place_next)(CUdeviceptr address) = nullptr;
  CUresult (*module_memory)(CUmodule module, CUdeviceptr* address, std::size_t* bytes) = nullptr;
  CUresult (*heap)(int make, CUdeviceptr* address, std::size_t* bytes) = nullptr;
};

TEST_F(PlacedMemory, LinearMemoryLiesWhereItIsWanted) {
  const CUdeviceptr first = allocate(10'000);
  ASSERT_OK(cuMemFree(first));
  place_next(first);
  CUdeviceptr again = 0;
  ASSERT_OK(cuMemAlloc(&again, 10'000));
  EXPECT_EQ(again, first);
  place_next(first);
  CUdeviceptr third = 0;
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&third, 10'000));
  ASSERT_OK(cuMemAlloc(&third, 10'000)) << "the wish was the first call's";
  EXPECT_NE(third, first);
  place_next(1 << 20U);
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&third, 10'000)) << "an address that no memory can have";
  place_next(first);
  place_next(0);
  ASSERT_OK(cuMemAlloc(&third, 10'000)) << "no wish any more";
}

TEST_F(PlacedMemory, VariablesLieWhereTheyAreWanted) {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  ASSERT_OK(module_memory(module_, &address, &bytes));
  ASSERT_GT(bytes, 0U);
  ASSERT_OK(cuModuleUnload(module_));
  place_next(address);
  ASSERT_OK(cuModuleLoad(&module_, file_path("kernels.ptx").c_str()));
  CUdeviceptr again = 0;
  std::size_t bytes_again = 0;
  ASSERT_OK(module_memory(module_, &again, &bytes_again));
  EXPECT_EQ(again, address);
  EXPECT_EQ(bytes_again, bytes);
}

TEST_F(PlacedMemory, TheHeapLiesWhereItIsWantedAndStays) {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  ASSERT_OK(heap(0, &address, &bytes));
  EXPECT_EQ(bytes, 0U) << "no kernel has needed it";
  const CUdeviceptr place = allocate(1 << 20U);
  ASSERT_OK(cuMemFree(place));
  ASSERT_OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 100'000));
  place_next(place);
  ASSERT_OK(heap(1, &address, &bytes));
  EXPECT_EQ(address, place);
  EXPECT_GT(bytes, 100'000U);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 200'000));
}

}  // namespace
