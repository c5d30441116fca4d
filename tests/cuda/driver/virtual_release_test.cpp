// A tenant's physical memory (cuMemCreate) is its quota's: charged when it is made, once, and given back with
// the last handle or mapping. Runs as a tenant that may hold 256 MiB (FAIRGV_MEM).
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "softcuda/memory/virtual_fixture.hpp"

class VirtualRelease : public Virtual {
 protected:
  static constexpr std::size_t kLimit = std::size_t{256} << 20U;

  void SetUp() override {
    Virtual::SetUp();
    std::size_t free = 0;
    std::size_t total = 0;
    ASSERT_OK(cuMemGetInfo(&free, &total));
    ASSERT_EQ(total, kLimit) << "this test runs with FAIRGV_MEM=256MiB";
    before_ = free;  // without the module's
  }
  CUresult try_create(std::size_t bytes, CUmemGenericAllocationHandle& handle) {
    return cuMemCreate(&handle, bytes / piece_ * piece_, &properties_, 0);
  }
  /// The daemon hears of a process' end a moment later than the program that waits for it.
  CUresult create_after_an_end(std::size_t bytes, CUmemGenericAllocationHandle& handle) {
    CUresult code = try_create(bytes, handle);
    for (int time = 0; time < 100'000 && code == CUDA_ERROR_OUT_OF_MEMORY; ++time)
      code = try_create(bytes, handle);
    return code;
  }

  std::size_t before_ = 0;
};

TEST_F(VirtualRelease, AQuotaHoldsForPhysicalMemory) {
  const CUdeviceptr plain = allocate(kLimit / 4);
  EXPECT_OK(cuMemsetD32(plain, 3, 1));
  const CUdeviceptr range = reserve(4096);
  CUmemGenericAllocationHandle first = 0, second = 0;
  ASSERT_OK(try_create(kLimit / 2, first));
  const std::size_t left = free_memory();
  for (int time = 0; time < 20; ++time) EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, try_create(kLimit / 2, second));
  CUdeviceptr more = 0;
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&more, kLimit / 2));
  EXPECT_EQ(left, free_memory());
  EXPECT_EQ(std::vector<unsigned>{3}, download<unsigned>(plain, 1)) << "nothing else was freed";
  ASSERT_OK(map(range, kLimit / 2 / piece_, first));
  ASSERT_OK(cuMemRelease(first));
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, try_create(kLimit / 2, second)) << "it is mapped";
  ASSERT_OK(unmap(range, kLimit / 2 / piece_));
  ASSERT_OK(try_create(kLimit / 2, second));
  ASSERT_OK(cuMemRelease(second));
  ASSERT_OK(cuMemAlloc(&more, kLimit / 2));
  EXPECT_OK(cuMemFree(more));
  EXPECT_OK(cuMemFree(plain));
  EXPECT_EQ(before_, free_memory());
  EXPECT_OK(cuMemAddressFree(range, 4096 * piece_));
}

TEST_F(VirtualRelease, MemoryIsGivenBackAtOnceManyTimes) {
  const CUdeviceptr range = reserve(kLimit / piece_);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    CUmemGenericAllocationHandle handle = 0;
    ASSERT_OK(try_create(kLimit * 3 / 4, handle));
    ASSERT_OK(map(range, kLimit * 3 / 4 / piece_, handle));
    const bool first_handle = round % 2 == 0;
    ASSERT_OK(first_handle ? cuMemRelease(handle) : unmap(range, kLimit * 3 / 4 / piece_));
    ASSERT_OK(first_handle ? unmap(range, kLimit * 3 / 4 / piece_) : cuMemRelease(handle));
  }
  EXPECT_EQ(before_, free_memory());
  EXPECT_OK(cuMemAddressFree(range, kLimit / piece_ * piece_));
}

TEST_F(VirtualRelease, EndsWithMappings) {
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_OK(create_after_an_end(kLimit * 3 / 4, handle));
  const CUdeviceptr range = reserve(kLimit / piece_);
  ASSERT_OK(map(range, kLimit * 3 / 4 / piece_, handle));
  ASSERT_OK(allow(range, kLimit * 3 / 4 / piece_));
  EXPECT_OK(cuMemsetD32(range, 1, 64));
  std::_Exit(HasFailure() ? 1 : 0);  // as a program that calls exit() in the midst of its work
}

TEST_F(VirtualRelease, AProcessThatEndsGivesEverythingBack) {
  std::array<char, 4096> path{};
  ASSERT_GT(::readlink("/proc/self/exe", path.data(), path.size() - 1), 0);
  for (int time = 0; time < 3; ++time) {
    const std::string program =
        "'" + std::string(path.data()) + "' --gtest_filter=VirtualRelease.EndsWithMappings";
    EXPECT_EQ(0, std::system(program.c_str())) << "process " << time;
  }
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_OK(create_after_an_end(kLimit * 3 / 4, handle));
  EXPECT_OK(cuMemRelease(handle));
}
