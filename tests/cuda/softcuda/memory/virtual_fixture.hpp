// Shared by the tests of virtual memory management: physical memory, and ranges that tests map it in.
#pragma once

#include "tests/cuda/softcuda/fixture.hpp"

class Virtual : public WithModule {
 protected:
  void SetUp() override {
    WithModule::SetUp();
    properties_ = properties_of(device_);
    ASSERT_OK(cuMemGetAllocationGranularity(&piece_, &properties_, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    ASSERT_NE(0U, piece_);
  }

  static CUmemAllocationProp properties_of(CUdevice device) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return properties;
  }
  /// Sizes are in pieces.
  CUmemGenericAllocationHandle create(std::size_t pieces) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_OK(cuMemCreate(&handle, pieces * piece_, &properties_, 0));
    return handle;
  }
  CUdeviceptr reserve(std::size_t pieces) {
    CUdeviceptr range = 0;
    EXPECT_OK(cuMemAddressReserve(&range, pieces * piece_, 0, 0, 0));
    EXPECT_EQ(0U, range % piece_);
    return range;
  }
  CUresult map(CUdeviceptr at, std::size_t pieces, CUmemGenericAllocationHandle handle) {
    return cuMemMap(at, pieces * piece_, 0, handle, 0);
  }
  CUresult unmap(CUdeviceptr at, std::size_t pieces) { return cuMemUnmap(at, pieces * piece_); }
  CUresult allow(CUdeviceptr at, std::size_t pieces,
                 CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    const CUmemAccessDesc wish{properties_.location, flags};
    return cuMemSetAccess(at, pieces * piece_, &wish, 1);
  }
  /// Memory that nothing but this mapping holds.
  void add(CUdeviceptr at, std::size_t pieces) {
    const auto handle = create(pieces);
    ASSERT_OK(map(at, pieces, handle));
    ASSERT_OK(allow(at, pieces));
    ASSERT_OK(cuMemRelease(handle));
  }
  static std::size_t free_memory() {
    std::size_t free = 0, total = 0;
    EXPECT_OK(cuMemGetInfo(&free, &total));
    return free;
  }
  template <typename Value>
  static Value attribute(CUpointer_attribute which, CUdeviceptr address) {
    Value value{};
    EXPECT_OK(cuPointerGetAttribute(&value, which, address));
    return value;
  }

  CUmemAllocationProp properties_{};
  std::size_t piece_ = 0;  // bytes
};
