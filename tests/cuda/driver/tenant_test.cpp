// Cases that only tenants have: memory that crosses processes, sessions that end, contexts that come and go.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "softcuda/fixture.hpp"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

std::vector<unsigned char> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<unsigned char> bytes(count);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

}  // namespace

class Tenant : public WithModule {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(is_tenant()) << "this test runs by as_tenant";
    // A child of this process has no driver: death tests begin anew in a process of their own.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

/// Death tests run in processes of their own.
using TenantDeathTest = Tenant;

TEST_F(Tenant, PageableMemoryOfAnySizeArrivesAndComesBack) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (const std::size_t size : {std::size_t{1}, std::size_t{4097}, 4 * kMiB, 4 * kMiB + 1, 37 * kMiB + 13}) {
    const auto sent = random_bytes(size, seed);
    std::vector<unsigned char> received(size);
    const CUdeviceptr memory = allocate(size);
    EXPECT_OK(cuMemcpyHtoD(memory, sent.data(), size));
    EXPECT_OK(cuMemcpyDtoH(received.data(), memory, size));
    EXPECT_TRUE(sent == received) << size;
    EXPECT_OK(cuMemFree(memory));
  }
}

TEST_F(Tenant, PitchedCopiesLargerThanAPieceKeepTheirRows) {
  constexpr std::size_t kWidth = 3000, kHeight = 4000, kPitch = 3333;
  const auto sent = random_bytes(kPitch * kHeight, 5);
  std::vector<unsigned char> received(kPitch * kHeight, 0);
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  ASSERT_OK(cuMemAllocPitch(&memory, &pitch, kWidth, kHeight, 4));
  EXPECT_GE(pitch, kWidth);
  CUDA_MEMCPY2D up{};
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.srcHost = sent.data();
  up.srcPitch = kPitch;
  up.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  up.dstDevice = memory;
  up.dstPitch = pitch;
  up.WidthInBytes = kWidth;
  up.Height = kHeight;
  EXPECT_OK(cuMemcpy2D(&up));
  CUDA_MEMCPY2D down{};
  down.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  down.srcDevice = memory;
  down.srcPitch = pitch;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = received.data();
  down.dstPitch = kPitch;
  down.WidthInBytes = kWidth;
  down.Height = kHeight;
  EXPECT_OK(cuMemcpy2D(&down));
  for (std::size_t row = 0; row < kHeight; ++row) {
    ASSERT_EQ(0, std::memcmp(&sent[row * kPitch], &received[row * kPitch], kWidth)) << row;
    if (row + 1 == kHeight) break;
    ASSERT_EQ(0, received[row * kPitch + kWidth]) << "between the rows, " << row;
  }
}

// The driver beneath chooses addresses in another process, and a pointer alone must tell which memory it
// points to.
TEST_F(Tenant, DeviceMemoryIsNowhereWhereTheProgramHasMemoryOfItsOwn) {
  constexpr std::size_t kBytes = 48 * kMiB;  // more than a heap keeps
  const CUdeviceptr given = allocate(kBytes);
  ASSERT_OK(cuMemFree(given));
  ASSERT_OK(cuCtxSynchronize());
  // Memory of this size is mapped, and unmapped when freed: the driver would choose the same address again.
  void* const own = ::mmap(reinterpret_cast<void*>(given / 4096 * 4096), kBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_NE(own, MAP_FAILED) << "freed device memory still holds its addresses";
  const auto begin = reinterpret_cast<CUdeviceptr>(own);
  std::memset(own, 1, kBytes);
  for (int i = 0; i < 3; ++i) {
    const CUdeviceptr memory = allocate(kBytes);
    EXPECT_TRUE(memory + kBytes <= begin || memory >= begin + kBytes) << std::hex << memory << ' ' << begin;
    EXPECT_OK(cuMemsetD8(memory, 2, kBytes));
    EXPECT_OK(cuMemcpyDtoH(own, memory, kBytes));
    EXPECT_EQ(static_cast<unsigned char*>(own)[kBytes - 1], 2);
    std::memset(own, 1, kBytes);
    EXPECT_OK(cuMemFree(memory));
  }
  ::munmap(own, kBytes);
}

TEST_F(Tenant, KernelsAndTheProgramSeeTheSameManagedAndPinnedMemory) {
  constexpr int kCount = 1000;
  CUdeviceptr managed = 0;
  ASSERT_OK(cuMemAllocManaged(&managed, kCount * sizeof(unsigned), CU_MEM_ATTACH_GLOBAL));
  void* pinned = nullptr;
  ASSERT_OK(cuMemAllocHost(&pinned, kCount * sizeof(unsigned)));
  CUdeviceptr mapped = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&mapped, pinned, 0));
  for (const auto& [host, device] : {std::pair(reinterpret_cast<unsigned*>(managed), managed),
                                     std::pair(static_cast<unsigned*>(pinned), mapped)}) {
    std::iota(host, host + kCount, 0U);
    EXPECT_OK(launch("increment", 10, 100, nullptr, device, kCount));
    EXPECT_OK(cuStreamSynchronize(nullptr));
    for (unsigned at = 0; at < kCount; ++at) ASSERT_EQ(at + 1, host[at]);
  }
  EXPECT_OK(cuMemFree(managed));
  EXPECT_OK(cuMemFreeHost(pinned));
}

TEST_F(Tenant, PinnedCopiesReturnAtOnceAndPageableOnesWhenRead) {
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* pinned = nullptr;
  ASSERT_OK(cuMemAllocHost(&pinned, 64));
  const CUdeviceptr memory = allocate(64);
  EXPECT_OK(cuMemsetD8(memory, 9, 64));
  EXPECT_OK(cuCtxSynchronize());
  std::memset(pinned, 1, 64);
  std::vector<unsigned char> own(64, 5);
  {
    Gate gate;
    ASSERT_OK(gate.close(stream));
    EXPECT_OK(cuMemcpyDtoHAsync(pinned, memory, 64, stream));
    EXPECT_OK(cuMemcpyHtoDAsync(memory, own.data(), 64, stream));
    EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    EXPECT_EQ(1, *static_cast<unsigned char*>(pinned));
    own.assign(64, 6);
  }
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(9, *static_cast<unsigned char*>(pinned));
  EXPECT_EQ(std::vector<unsigned char>(64, 5), download<unsigned char>(memory, 64));
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_OK(cuMemFreeHost(pinned));
}

TEST_F(Tenant, PrimaryContextsComeAndGoWithWorkInTheirDefaultStreams) {
  for (int round = 0; round < 20; ++round) {
    CUcontext primary = nullptr;
    ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, device_));
    ASSERT_OK(cuCtxPushCurrent(primary));
    CUdeviceptr memory = 0;
    ASSERT_OK(cuMemAlloc(&memory, 4096));
    ASSERT_OK(cuMemsetD8(memory, 1, 4096));
    ASSERT_OK(cuMemsetD8Async(memory, 2, 4096, CU_STREAM_PER_THREAD));
    // The context stays on another thread's stack, as programs leave it.
    std::thread([primary] { EXPECT_OK(cuCtxSetCurrent(primary)); }).join();
    ASSERT_OK(round % 2 == 0 ? cuDevicePrimaryCtxReset(device_) : CUDA_SUCCESS);
    EXPECT_OK(cuDevicePrimaryCtxRelease(device_));
    CUcontext popped = nullptr;
    EXPECT_OK(cuCtxPopCurrent(&popped));
  }
  EXPECT_OK(launch("increment", 1, 1, nullptr, allocate(4), 1));
  EXPECT_OK(cuCtxSynchronize());
}

TEST_F(Tenant, ThreadsComeAndGoWithTheirDefaultStreams) {
  const CUdeviceptr memory = allocate(64 * sizeof(unsigned));
  EXPECT_OK(cuMemsetD8(memory, 0, 64 * sizeof(unsigned)));
  EXPECT_OK(cuCtxSynchronize());
  std::vector<std::thread> threads;
  for (unsigned at = 0; at < 64; ++at) {
    threads.emplace_back([this, at, memory] {
      EXPECT_OK(cuCtxSetCurrent(context_));
      for (int times = 0; times < 10; ++times) {
        EXPECT_OK(launch("increment", 1, 1, CU_STREAM_PER_THREAD, memory + at * sizeof(unsigned), 1));
      }
    });
    if (at % 8 == 7) {
      for (auto& thread : threads) thread.join();
      threads.clear();
    }
  }
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(std::vector<unsigned>(64, 10), download<unsigned>(memory, 64));
}

TEST_F(Tenant, EventsThatAreRecordedAnewStandForTheLatestRecord) {
  CUstream held = nullptr;
  CUstream free = nullptr;
  ASSERT_OK(cuStreamCreate(&held, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING));
  CUevent event = nullptr;
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  EXPECT_OK(cuStreamWaitEvent(free, event, 0));  // never recorded: nothing to wait for
  EXPECT_OK(cuStreamSynchronize(free));
  const CUdeviceptr memory = allocate(4);
  {
    Gate gate;
    ASSERT_OK(gate.close(held));
    EXPECT_OK(cuEventRecord(event, held));
    EXPECT_OK(cuStreamWaitEvent(free, event, 0));
    EXPECT_OK(cuMemsetD8Async(memory, 1, 4, free));
    // The wait keeps the event's record of that moment, whatever becomes of the event.
    CUstream third = nullptr;
    ASSERT_OK(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuEventRecord(event, third));
    EXPECT_OK(cuEventSynchronize(event));
    EXPECT_OK(cuEventDestroy(event));
    EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(free));
    EXPECT_OK(cuStreamDestroy(third));
  }
  EXPECT_OK(cuStreamSynchronize(free));
  EXPECT_OK(cuStreamDestroy(free));
  EXPECT_OK(cuStreamDestroy(held));
}

TEST_F(Tenant, ForkedChildHasNoDriverAndItsParentKeepsIts) {
  const CUdeviceptr memory = allocate(4);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int count = 0;
    const bool told =
        cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
    ::_exit(told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_OK(cuMemsetD32(memory, 5, 1));
  EXPECT_EQ(std::vector<unsigned>{5}, download<unsigned>(memory, 1));
}

TEST_F(TenantDeathTest, FailedAssertionSticksToTheProcess) {
  EXPECT_EXIT(
      {
        launch("expect_small", 1, 8, nullptr, 7);
        const CUresult first = cuCtxSynchronize();
        CUcontext other = nullptr;
        const CUresult second = cuCtxCreate(&other, nullptr, 0, device_);
        std::_Exit(first == CUDA_ERROR_ASSERT && second == CUDA_ERROR_ASSERT ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(TenantDeathTest, WorkerThatDiesFailsCallsAndHoldsNobodyUp) {
  EXPECT_EXIT(
      {
        // On a CPU such an address ends the worker.
        launch("increment", 1, 1, nullptr, CUdeviceptr{16}, 1);
        const CUresult first = cuCtxSynchronize();
        CUdeviceptr memory = 0;
        const CUresult second = cuMemAlloc(&memory, 16);
        std::_Exit(first != CUDA_SUCCESS && first == second ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
