// The books of virtual memory over an engine that only counts: what it is asked for, and what a refusal of
// its changes.
#include "cuda-shim/api/memory/virtual/virtual_memory.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace fairgv::cuda {
namespace {

constexpr std::uint64_t kPiece = 0x10000;
constexpr std::uint64_t kMost = 8 * kPiece;  // of physical memory

class Counting final : public AddressSpace {
 public:
  struct Memory final : Storage {
    explicit Memory(int& alive) : count(alive) { ++count; }
    ~Memory() override { --count; }
    int& count;
  };

  CUresult granularity(CUdevice, CUmemAllocationGranularity_flags, std::uint64_t& bytes) override {
    bytes = kPiece;
    return CUDA_SUCCESS;
  }
  CUresult reserve(const RangeWish& wish, std::uint64_t& address) override {
    if (refusal != CUDA_SUCCESS) return refusal;
    address = next;
    next += wish.size;
    ranges.insert(address);
    return CUDA_SUCCESS;
  }
  CUresult give_back(std::uint64_t address, std::uint64_t) override {
    if (refusal == CUDA_SUCCESS) {
      EXPECT_EQ(1U, ranges.erase(address));
    }
    return refusal;
  }
  CUresult make_physical(CUdevice, std::uint64_t, std::unique_ptr<Storage>& memory) override {
    if (refusal == CUDA_SUCCESS) memory = std::make_unique<Memory>(alive);
    return refusal;
  }
  CUresult map(std::uint64_t address, std::uint64_t size, const Storage&) override {
    if (refusal == CUDA_SUCCESS) mapped.insert({address, size});
    return refusal;
  }
  CUresult unmap(std::uint64_t address, std::uint64_t size) override {
    if (refusal != CUDA_SUCCESS) return refusal;
    std::erase_if(mapped, [&](const auto& each) { return each.first - address < size; });
    return CUDA_SUCCESS;
  }
  CUresult set_access(std::uint64_t, std::uint64_t, CUdevice, CUmemAccess_flags) override { return refusal; }

  CUresult refusal = CUDA_SUCCESS;
  std::uint64_t next = kPiece;
  std::set<std::uint64_t> ranges;
  std::set<std::pair<std::uint64_t, std::uint64_t>> mapped;
  int alive = 0;  // physical memories
};

class VirtualBooks : public testing::Test {
 protected:
  static CUmemAllocationProp of_device(CUdevice device) {
    CUmemAllocationProp properties{};
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return properties;
  }
  CUdeviceptr reserve(std::uint64_t pieces) {
    CUdeviceptr address = 0;
    EXPECT_EQ(CUDA_SUCCESS, books_.reserve({pieces * kPiece, 0, 0}, address));
    return address;
  }
  CUmemGenericAllocationHandle create(std::uint64_t pieces, CUdevice device = 0) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(CUDA_SUCCESS, books_.create(of_device(device), pieces * kPiece, kMost, handle));
    return handle;
  }
  CUresult allow(CUdeviceptr address, std::uint64_t size, CUdevice device) {
    const CUmemAccessDesc wish{of_device(device).location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return books_.set_access(address, size, {&wish, 1});
  }

  Counting engine_;
  MemoryTable table_;
  VirtualMemory books_{&engine_, table_};
};

TEST_F(VirtualBooks, PhysicalMemoryGoesWithItsLastHandleOrMapping) {
  const CUdeviceptr range = reserve(4);
  const auto handle = create(2);
  EXPECT_EQ(2 * kPiece, table_.used());
  EXPECT_EQ(CUDA_SUCCESS, books_.map(range, 2 * kPiece, handle));
  EXPECT_EQ(CUDA_SUCCESS, books_.map(range + 2 * kPiece, kPiece, handle));
  EXPECT_EQ(CUDA_SUCCESS, books_.release(handle));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, books_.release(handle));
  EXPECT_EQ(CUDA_SUCCESS, books_.unmap(range, 2 * kPiece));
  EXPECT_EQ(1, engine_.alive);
  CUmemGenericAllocationHandle again = 0;
  EXPECT_EQ(CUDA_SUCCESS, books_.retain(range + 2 * kPiece + 1, again));
  EXPECT_EQ(handle, again);
  EXPECT_EQ(CUDA_SUCCESS, books_.unmap(range + 2 * kPiece, kPiece));
  EXPECT_EQ(1, engine_.alive);
  EXPECT_EQ(2 * kPiece, table_.used());
  EXPECT_EQ(CUDA_SUCCESS, books_.release(again));
  EXPECT_EQ(0, engine_.alive);
  EXPECT_EQ(0U, table_.used());
  EXPECT_EQ(CUDA_SUCCESS, books_.free(range, 4 * kPiece));
  EXPECT_TRUE(engine_.ranges.empty());
  EXPECT_NE(handle, create(1)) << "a handle is never another memory's";
}

TEST_F(VirtualBooks, ARefusalOfTheEngineChangesNothing) {
  const CUdeviceptr range = reserve(2);
  const auto handle = create(1);
  ASSERT_EQ(CUDA_SUCCESS, books_.map(range, kPiece, handle));
  engine_.refusal = CUDA_ERROR_UNKNOWN;
  CUmemGenericAllocationHandle other = 99;
  CUdeviceptr address = 99;
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, books_.reserve({kPiece, 0, 0}, address));
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, books_.create(of_device(0), kPiece, kMost, other));
  EXPECT_EQ(kPiece, table_.used());
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, books_.map(range + kPiece, kPiece, handle));
  EXPECT_EQ(nullptr, table_.find(range + kPiece));
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, allow(range, kPiece, 0));
  EXPECT_FALSE(table_.covers(range, 1)) << "it has no access";
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, books_.unmap(range, kPiece));
  EXPECT_NE(nullptr, table_.find(range));
  EXPECT_EQ(99U, other);
  EXPECT_EQ(99U, address);
  engine_.refusal = CUDA_SUCCESS;
  EXPECT_EQ(CUDA_SUCCESS, books_.unmap(range, kPiece));
  engine_.refusal = CUDA_ERROR_UNKNOWN;
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, books_.free(range, 2 * kPiece));
  engine_.refusal = CUDA_SUCCESS;
  EXPECT_EQ(CUDA_SUCCESS, books_.free(range, 2 * kPiece));
}

TEST_F(VirtualBooks, NoMoreIsCreatedThanTheDeviceHas) {
  const auto handle = create(6);
  CUmemGenericAllocationHandle other = 0;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, books_.create(of_device(0), 3 * kPiece, kMost, other));
  EXPECT_EQ(6 * kPiece, table_.used());
  EXPECT_EQ(CUDA_SUCCESS, books_.release(handle));
  EXPECT_EQ(CUDA_SUCCESS, books_.create(of_device(0), 8 * kPiece, kMost, other));
}

TEST_F(VirtualBooks, AMappingLiesInOneRange) {
  const CUdeviceptr first = reserve(2);
  const CUdeviceptr second = reserve(2);
  ASSERT_EQ(first + 2 * kPiece, second);
  const auto handle = create(2);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, books_.map(first + kPiece, 2 * kPiece, handle));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, books_.map(second + 2 * kPiece, kPiece, handle));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, books_.map(0, kPiece, handle));
  EXPECT_TRUE(engine_.mapped.empty());
  ASSERT_EQ(CUDA_SUCCESS, books_.map(first, 2 * kPiece, handle));
  ASSERT_EQ(CUDA_SUCCESS, books_.map(second, kPiece, handle));
  ASSERT_EQ(CUDA_SUCCESS, allow(first, 3 * kPiece, 0));
  EXPECT_TRUE(table_.covers(first + 1, 3 * kPiece - 1));
  EXPECT_FALSE(table_.covers(first + 1, 3 * kPiece));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, books_.unmap(first, UINT64_MAX));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, books_.unmap(first, 0));
}

TEST_F(VirtualBooks, ADeviceHasAccessToItsOwnMemoryOnly) {
  const CUdeviceptr range = reserve(2);
  const auto of_first = create(1, 0);
  const auto of_second = create(1, 1);
  ASSERT_EQ(CUDA_SUCCESS, books_.map(range, kPiece, of_first));
  ASSERT_EQ(CUDA_SUCCESS, books_.map(range + kPiece, kPiece, of_second));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, allow(range, 2 * kPiece, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, allow(range, kPiece, 1));
  ASSERT_EQ(CUDA_SUCCESS, allow(range, kPiece, 0));
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  EXPECT_EQ(CUDA_SUCCESS, books_.access(range, 0, flags));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, flags);
  EXPECT_EQ(CUDA_SUCCESS, books_.access(range, 1, flags));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_NONE, flags);
}

TEST(VirtualBooksWithoutAnEngine, ServeNothing) {
  MemoryTable table;
  VirtualMemory books(nullptr, table);
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, books.reserve({kPiece, 0, 0}, address));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, books.create({}, kPiece, kMost, handle));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, books.map(kPiece, kPiece, 1));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, books.unmap(kPiece, kPiece));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, books.release(1));
}

}  // namespace
}  // namespace fairgv::cuda
