// The worker's CUDA back end: ranges of addresses, physical memory, its quota, and front ends that misuse
// them.
#include <string>
#include <vector>

#include "tests/integration/system/cuda_worker.hpp"

namespace fairgv::integration::cuda_worker {
namespace {

constexpr int kInvalidValue = 1;
constexpr std::uint32_t kReadWrite = 3;

struct CudaWorkerRanges : CudaWorker {
  std::uint64_t reserve(std::uint64_t bytes) {
    const auto reply = client->call(ReserveRange{bytes, 0, 0});
    return reply && reply->code == 0 ? reply->address : 0;
  }
  std::uint64_t create(std::uint64_t bytes) {
    const auto reply = client->call(CreatePhysical{0, bytes});
    return reply && reply->code == 0 ? reply->number : 0;
  }
  int create_code(std::uint64_t bytes) {
    const auto reply = client->call(CreatePhysical{0, bytes});
    return reply ? reply->code : -1;
  }
  int map(std::uint64_t number, std::uint64_t address, std::uint64_t bytes) {
    const auto reply = client->call(MapPhysical{number, address, bytes});
    return reply ? reply->code : -1;
  }
  int unmap(std::uint64_t address, std::uint64_t bytes) {
    const auto reply = client->call(UnmapRange{address, bytes});
    return reply ? reply->code : -1;
  }
  int allow(std::uint64_t address, std::uint64_t bytes) {
    const auto reply = client->call(SetAccess{address, bytes, 0, kReadWrite});
    return reply ? reply->code : -1;
  }
};

TEST_F(CudaWorkerRanges, KernelsRunOverTwoPhysicalMemories) {
  load(kPtx);
  ASSERT_EQ(find("scale").code, 0);
  EXPECT_EQ(client->call(GetGranularity{0, 0})->bytes, 2 * kMiB);
  const std::uint64_t range = reserve(8 * kMiB);
  ASSERT_NE(range, 0U);
  for (const std::uint64_t at : {range, range + 2 * kMiB}) {
    const std::uint64_t memory = create(2 * kMiB);
    ASSERT_NE(memory, 0U);
    EXPECT_EQ(map(memory, at, 2 * kMiB), 0);
    client->send(ReleasePhysical{memory});
  }
  EXPECT_EQ(allow(range, 4 * kMiB), 0);
  const std::uint64_t border = range + 2 * kMiB - 400;
  write(legacy, border, numbers(200));
  scale(legacy, border, 200, 2);
  const auto found = read(legacy, border, 200);
  for (std::uint32_t at = 0; at < 200; ++at) EXPECT_EQ(found[at], 3 * at);
  EXPECT_EQ(unmap(range, 4 * kMiB), 0);
  EXPECT_EQ(client->call(FreeRange{range, 8 * kMiB})->code, 0);
  EXPECT_EQ(client->late_error(), 0U);
}

TEST_F(CudaWorkerRanges, PhysicalMemoryIsChargedUntilItsLastUse) {
  ASSERT_NO_FATAL_FAILURE(connect("carol", "64M"));
  const std::uint64_t range = reserve(256 * kMiB);
  const std::uint64_t memory = create(48 * kMiB);
  ASSERT_NE(memory, 0U);
  EXPECT_EQ(create_code(32 * kMiB), kOutOfMemory);
  EXPECT_EQ(map(memory, range, 48 * kMiB), 0);
  EXPECT_EQ(map(memory, range + 64 * kMiB, 48 * kMiB), 0) << "a second mapping costs nothing";
  client->send(ReleasePhysical{memory});
  EXPECT_EQ(create_code(32 * kMiB), kOutOfMemory);
  EXPECT_EQ(unmap(range, 48 * kMiB), 0);
  EXPECT_EQ(create_code(32 * kMiB), kOutOfMemory);
  EXPECT_EQ(allocate(32 * kMiB), 0U);
  EXPECT_EQ(unmap(range + 64 * kMiB, 48 * kMiB), 0);
  EXPECT_NE(create(48 * kMiB), 0U);
  EXPECT_NE(allocate(16 * kMiB), 0U);
}

TEST_F(CudaWorkerRanges, WhatTheDriverRefusesIsNotCharged) {
  ASSERT_NO_FATAL_FAILURE(connect("carol", "64M"));
  for (int time = 0; time < 100; ++time) EXPECT_EQ(create_code(32 * kMiB + 1), kInvalidValue);
  EXPECT_EQ(create_code(0), kInvalidValue);
  EXPECT_EQ(create_code(UINT64_MAX), kOutOfMemory);
  EXPECT_NE(create(64 * kMiB), 0U);
}

TEST_F(CudaWorkerRanges, TheDriverHasTheLastWordOnAddresses) {
  const std::uint64_t range = reserve(8 * kMiB);
  const std::uint64_t memory = create(4 * kMiB);
  const std::uint64_t plain = allocate(8 * kMiB);
  EXPECT_EQ(map(memory, range + 6 * kMiB, 4 * kMiB), kInvalidValue);
  EXPECT_EQ(map(memory, plain / (2 * kMiB) * 2 * kMiB, 2 * kMiB), kInvalidValue);
  EXPECT_EQ(map(memory, range, 8 * kMiB), kInvalidValue);
  EXPECT_EQ(map(memory, range, 0), kInvalidValue);
  EXPECT_EQ(map(memory, UINT64_MAX - kMiB, 4 * kMiB), kInvalidValue);
  ASSERT_EQ(map(memory, range, 4 * kMiB), 0);
  EXPECT_EQ(map(memory, range + 2 * kMiB, 4 * kMiB), kInvalidValue);
  EXPECT_EQ(unmap(range, 2 * kMiB), kInvalidValue);
  EXPECT_EQ(unmap(plain, 8 * kMiB), kInvalidValue);
  EXPECT_EQ(unmap(range, UINT64_MAX), kInvalidValue);
  EXPECT_EQ(allow(range, 8 * kMiB), kInvalidValue);
  EXPECT_EQ(client->call(SetAccess{range, 4 * kMiB, 0, 77})->code, kInvalidValue);
  EXPECT_EQ(client->call(FreeRange{range, 8 * kMiB})->code, kInvalidValue);
  EXPECT_EQ(client->call(FreeRange{plain, 8 * kMiB})->code, kInvalidValue);
  EXPECT_EQ(reserve(kMiB + 1), 0U);
  EXPECT_EQ(unmap(range, 4 * kMiB), 0);
  EXPECT_EQ(client->call(FreeRange{range, 8 * kMiB})->code, 0);
}

TEST_F(CudaWorkerRanges, EndsASessionThatNamesWhatIsNotThere) {
  const std::uint64_t memory = create(2 * kMiB);
  client->send(ReleasePhysical{memory});
  client->send(ReleasePhysical{memory});
  EXPECT_TRUE(is_over());
  connect("alice", {});
  client->call(MapPhysical{1, reserve(2 * kMiB), 2 * kMiB});
  EXPECT_TRUE(is_over());
  connect("alice", {});
  client->call(CreatePhysical{1000, 2 * kMiB});
  EXPECT_TRUE(is_over());
  connect("alice", {});
  client->call(SetAccess{0, 0, UINT32_MAX, 0});
  EXPECT_TRUE(is_over());
}

}  // namespace
}  // namespace fairgv::integration::cuda_worker
