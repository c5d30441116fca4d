// Memory that a program has freed is free for its next allocation: in the order of a stream without a wait,
// and after each way of waiting. Runs as a tenant that may hold 256 MiB (FAIRGV_MEM).
#include <chrono>
#include <cstdint>
#include <future>
#include <ostream>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "softcuda/fixture.hpp"
#include "tests/harness/sanitized.hpp"

namespace {

class Release : public WithModule {
 protected:
  static constexpr std::size_t kMiB = std::size_t{1} << 20U;
  static constexpr std::size_t kLimit = 256 * kMiB;

  void SetUp() override {
    WithModule::SetUp();
    std::size_t free = 0;
    std::size_t total = 0;
    ASSERT_OK(cuMemGetInfo(&free, &total));
    ASSERT_EQ(total, kLimit) << "this test runs with FAIRGV_MEM=256MiB";
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }

  /// Starts work on the memory that is under way for a moment.
  static void use(CUdeviceptr memory, std::size_t bytes, CUstream stream) {
    EXPECT_OK(cuMemsetD8Async(memory, 1, bytes, stream));
  }
  CUdeviceptr allocate_in(CUstream stream, std::size_t bytes, CUresult& code) {
    CUdeviceptr memory = 0;
    code = cuMemAllocAsync(&memory, bytes, stream);
    return memory;
  }

  CUstream stream_ = nullptr;
};

// ---- after each way of waiting

struct Way {
  const char* name;
  void (*wait)(CUstream stream, CUevent event);
};

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

void wait_in_host_function(CUstream stream, CUevent) {
  std::promise<void> called;
  EXPECT_OK(cuLaunchHostFunc(
      stream, [](void* promise) { static_cast<std::promise<void>*>(promise)->set_value(); }, &called));
  called.get_future().wait();
}

class EachWay : public Release, public testing::WithParamInterface<Way> {};

TEST_P(EachWay, FindsTheMemoryThereAndTheFreeAmountRight) {
  CUevent event = nullptr;
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  for (const bool work : {true, false}) {
    for (int round = 0; round < fairgv::harness::rounds(40); ++round) {
      CUdeviceptr memory[2] = {};
      for (CUdeviceptr& each : memory) {
        CUresult code = CUDA_SUCCESS;
        each = allocate_in(stream_, 100 * kMiB, code);
        ASSERT_OK(code) << "round " << round;
        if (work) use(each, kMiB, stream_);
      }
      for (const CUdeviceptr each : memory) ASSERT_OK(cuMemFreeAsync(each, stream_));
      ASSERT_OK(cuEventRecord(event, stream_));
      GetParam().wait(stream_, event);
      std::size_t free = 0;
      std::size_t total = 0;
      ASSERT_OK(cuMemGetInfo(&free, &total));
      EXPECT_GE(free, 200 * kMiB) << "round " << round;
    }
  }
  EXPECT_OK(cuEventDestroy(event));
}

INSTANTIATE_TEST_SUITE_P(
    Ways, EachWay,
    testing::Values(Way{"Stream", [](CUstream stream, CUevent) { EXPECT_OK(cuStreamSynchronize(stream)); }},
                    Way{"Context", [](CUstream, CUevent) { EXPECT_OK(cuCtxSynchronize()); }},
                    Way{"Event", [](CUstream, CUevent event) { EXPECT_OK(cuEventSynchronize(event)); }},
                    Way{"StreamQuery",
                        [](CUstream stream, CUevent) {
                          while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
                        }},
                    Way{"EventQuery",
                        [](CUstream, CUevent event) {
                          while (cuEventQuery(event) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
                        }},
                    Way{"HostFunction", wait_in_host_function}),
    [](const auto& test) { return std::string(test.param.name); });

// ---- without waiting

TEST_F(Release, AFreeAheadInTheStreamDoesForTheNextAllocation) {
  for (const std::size_t bytes : {4 * kMiB, 32 * kMiB, 100 * kMiB, 250 * kMiB}) {
    for (int round = 0; round < fairgv::harness::rounds(150); ++round) {
      CUresult code = CUDA_SUCCESS;
      const CUdeviceptr memory = allocate_in(stream_, bytes, code);
      ASSERT_OK(code) << "round " << round << " of " << bytes;
      use(memory, std::min(bytes, 8 * kMiB), stream_);
      ASSERT_OK(cuMemFreeAsync(memory, stream_));
    }
  }
}

TEST_F(Release, AFreeInAnotherStreamBehindAnEventDoes) {
  CUstream other = nullptr;
  CUevent used = nullptr;
  ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuEventCreate(&used, CU_EVENT_DISABLE_TIMING));
  for (int round = 0; round < fairgv::harness::rounds(60); ++round) {
    CUresult code = CUDA_SUCCESS;
    const CUdeviceptr memory = allocate_in(stream_, 200 * kMiB, code);
    ASSERT_OK(code) << "round " << round;
    use(memory, kMiB, stream_);
    ASSERT_OK(cuEventRecord(used, stream_));
    ASSERT_OK(cuStreamWaitEvent(other, used, 0));
    ASSERT_OK(cuMemFreeAsync(memory, other));
  }
}

TEST_F(Release, APoolOfTheProgramsOwnGivesBackAsTheDevicesDoes) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_};
  CUmemoryPool pool = nullptr;
  ASSERT_OK(cuMemPoolCreate(&pool, &properties));
  for (int round = 0; round < fairgv::harness::rounds(60); ++round) {
    CUdeviceptr memory = 0;
    ASSERT_OK(cuMemAllocFromPoolAsync(&memory, 200 * kMiB, pool, stream_)) << "round " << round;
    use(memory, kMiB, stream_);
    ASSERT_OK(cuMemFreeAsync(memory, stream_));
  }
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuMemPoolDestroy(pool));
}

TEST_F(Release, AHostFunctionOnTheWayIsLetRun) {
  for (int round = 0; round < fairgv::harness::rounds(60); ++round) {
    CUresult code = CUDA_SUCCESS;
    const CUdeviceptr memory = allocate_in(stream_, 200 * kMiB, code);
    ASSERT_OK(code) << "round " << round;
    use(memory, kMiB, stream_);
    ASSERT_OK(cuLaunchHostFunc(
        stream_, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }, nullptr));
    ASSERT_OK(cuMemFreeAsync(memory, stream_));
  }
}

TEST_F(Release, EveryKindOfAllocationCountsOnWhatIsFreedAhead) {
  CUDA_ARRAY_DESCRIPTOR shape{};
  shape.Width = 4096;
  shape.Height = 3200;
  shape.Format = CU_AD_FORMAT_FLOAT;
  shape.NumChannels = 4;  // 200 MiB
  for (int round = 0; round < fairgv::harness::rounds(20); ++round) {
    CUresult code = CUDA_SUCCESS;
    CUdeviceptr memory = allocate_in(stream_, 200 * kMiB, code);
    ASSERT_OK(code);
    use(memory, kMiB, stream_);
    ASSERT_OK(cuMemFreeAsync(memory, stream_));
    ASSERT_OK(cuMemAlloc(&memory, 200 * kMiB)) << "round " << round;
    ASSERT_OK(cuMemFree(memory));
    memory = allocate_in(stream_, 200 * kMiB, code);
    ASSERT_OK(code) << "round " << round;
    ASSERT_OK(cuMemFreeAsync(memory, stream_));
    CUarray array = nullptr;
    ASSERT_OK(cuArrayCreate(&array, &shape)) << "round " << round;
    ASSERT_OK(cuArrayDestroy(array));
    memory = allocate_in(stream_, 200 * kMiB, code);
    ASSERT_OK(code) << "round " << round;
    ASSERT_OK(cuMemFreeAsync(memory, stream_));
    std::size_t pitch = 0;
    ASSERT_OK(cuMemAllocPitch(&memory, &pitch, 64 * 1024, 3200, 4)) << "round " << round;
    ASSERT_OK(cuMemFree(memory));
  }
}

TEST_F(Release, AMipmapIsChargedWithAllItsLevelsUntilNothingReadsIt) {
  // The first level fits by itself: 200 MiB of the 256. All take 267 MiB.
  CUDA_ARRAY3D_DESCRIPTOR shape{4096, 3200, 0, CU_AD_FORMAT_FLOAT, 4, 0};
  CUmipmappedArray mipmap = nullptr;
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMipmappedArrayCreate(&mipmap, &shape, 13));
  ASSERT_OK(cuMipmappedArrayCreate(&mipmap, &shape, 1));
  ASSERT_OK(cuMipmappedArrayDestroy(mipmap));
  shape.Height = 2400;  // 200 MiB with its levels
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  CUDA_TEXTURE_DESC sampling{};
  sampling.flags = CU_TRSF_NORMALIZED_COORDINATES;
  for (int round = 0; round < fairgv::harness::rounds(10); ++round) {
    ASSERT_OK(cuMipmappedArrayCreate(&mipmap, &shape, 13)) << "round " << round;
    resource.res.mipmap.hMipmappedArray = mipmap;
    CUtexObject texture = 0;
    ASSERT_OK(cuTexObjectCreate(&texture, &resource, &sampling, nullptr));
    ASSERT_OK(cuMipmappedArrayDestroy(mipmap));
    CUdeviceptr memory = 0;
    EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, 100 * kMiB)) << "the texture keeps it";
    ASSERT_OK(cuTexObjectDestroy(texture));
    ASSERT_OK(cuMemAlloc(&memory, 200 * kMiB)) << "round " << round;
    ASSERT_OK(cuMemFree(memory));
  }
}

// ---- memory that is not about to be freed

TEST_F(Release, WhatCodeOfTheProgramHoldsForLongIsRefused) {
  CUresult code = CUDA_SUCCESS;
  const CUdeviceptr memory = allocate_in(stream_, 200 * kMiB, code);
  ASSERT_OK(code);
  Gate gate;
  ASSERT_OK(gate.close(stream_));
  ASSERT_OK(cuMemFreeAsync(memory, stream_));
  const auto from = std::chrono::steady_clock::now();
  allocate_in(stream_, 200 * kMiB, code);
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, code);
  EXPECT_LT(std::chrono::steady_clock::now() - from, std::chrono::seconds(2));
  gate.open();
  const CUdeviceptr next = allocate_in(stream_, 200 * kMiB, code);
  EXPECT_OK(code);
  EXPECT_OK(cuMemFreeAsync(next, stream_));
}

TEST_F(Release, MoreThanTheLimitIsRefusedAtOnce) {
  const CUdeviceptr held = allocate(100 * kMiB);
  CUresult code = CUDA_SUCCESS;
  const CUdeviceptr memory = allocate_in(stream_, 100 * kMiB, code);
  ASSERT_OK(code);
  ASSERT_OK(cuMemFreeAsync(memory, stream_));
  allocate_in(stream_, 200 * kMiB, code);
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, code);
  EXPECT_OK(cuMemFree(held));
}

// ---- at random

TEST_F(Release, UnderRandomUseNothingIsRefusedThatFits) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  CUstream streams[3] = {stream_};
  for (CUstream& stream : std::span(streams).subspan(1)) {
    ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  struct Held {
    CUdeviceptr memory;
    std::size_t bytes;
    CUstream stream;
  };
  std::vector<Held> held;
  std::size_t live = 0;
  const auto release = [&](std::size_t index) {
    const Held freed = held[index];
    if (pick(9) == 0) {
      EXPECT_OK(cuMemFree(freed.memory));
    } else {
      EXPECT_OK(cuMemFreeAsync(freed.memory, freed.stream));
    }
    live -= freed.bytes;
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
  };
  for (int round = 0; round < fairgv::harness::rounds(600); ++round) {
    if (!held.empty() && pick(2) == 0) {
      release(pick(held.size() - 1));
      continue;
    }
    const std::size_t bytes = 1 + pick(pick(1) == 0 ? 120 * kMiB : kMiB);
    while (live + bytes > kLimit - 8 * kMiB) release(pick(held.size() - 1));
    const CUstream stream = streams[pick(2)];
    CUresult code = CUDA_SUCCESS;
    const CUdeviceptr memory = allocate_in(stream, bytes, code);
    ASSERT_OK(code) << "round " << round << ": " << bytes << " bytes beside " << live;
    use(memory, std::min(bytes, 4 * kMiB), stream);
    held.push_back({memory, bytes, stream});
    live += bytes;
    if (pick(31) == 0) {
      EXPECT_OK(cuStreamSynchronize(streams[pick(2)]));
    }
  }
  while (!held.empty()) release(0);
}

// ---- registered memory

TEST_F(Release, RegisteredMemoryTakesDeviceMemoryWhileKernelsHaveIt) {
  std::vector<unsigned char> first(100 * kMiB);
  std::vector<unsigned char> second(180 * kMiB);
  const auto free_now = [] {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_OK(cuMemGetInfo(&free, &total));
    return free;
  };
  const std::size_t before = free_now();
  ASSERT_OK(cuMemHostRegister(first.data(), first.size(), CU_MEMHOSTREGISTER_DEVICEMAP));
  ASSERT_OK(cuMemHostRegister(second.data(), second.size(), CU_MEMHOSTREGISTER_DEVICEMAP));
  EXPECT_EQ(before, free_now());
  CUdeviceptr device = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&device, first.data(), 0));
  ASSERT_OK(cuMemHostGetDevicePointer(&device, first.data() + 5, 0));
  EXPECT_EQ(before - first.size(), free_now());
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMemHostGetDevicePointer(&device, second.data(), 0));
  EXPECT_EQ(before - first.size(), free_now());
  EXPECT_OK(cuMemHostUnregister(first.data()));
  EXPECT_OK(cuMemHostGetDevicePointer(&device, second.data(), 0));
  EXPECT_EQ(before - second.size(), free_now());
  EXPECT_OK(cuMemHostUnregister(second.data()));
  EXPECT_EQ(before, free_now());
}

}  // namespace
