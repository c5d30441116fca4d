// Virtual memory management: what is refused, who keeps memory alive, and what is said of addresses.
#include "tests/cuda/softcuda/memory/virtual_fixture.hpp"

TEST_F(Virtual, TheDeviceSaysWhatIsServed) {
  const auto says = [this](CUdevice_attribute which) {
    int value = -1;
    EXPECT_OK(cuDeviceGetAttribute(&value, which, device_));
    return value;
  };
  EXPECT_EQ(1, says(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED));
  EXPECT_EQ(0, says(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED));
  EXPECT_EQ(0, says(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED));
  EXPECT_EQ(0, says(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED));
  EXPECT_EQ(0, says(CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED));
  std::size_t least = 0;
  EXPECT_OK(cuMemGetAllocationGranularity(&least, &properties_, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT_NE(0U, least);
  EXPECT_EQ(0U, piece_ % least);
}

TEST_F(Virtual, NoCallNeedsAContext) {
  ASSERT_OK(cuCtxSetCurrent(nullptr));
  const CUdeviceptr range = reserve(2);
  add(range, 2);
  EXPECT_OK(unmap(range, 2));
  EXPECT_OK(cuMemAddressFree(range, 2 * piece_));
  ASSERT_OK(cuCtxSetCurrent(context_));
}

TEST_F(Virtual, RefusesRangesThatCannotBe) {
  CUdeviceptr range = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(nullptr, piece_, 0, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, 0, 0, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, piece_ + 1, 0, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, piece_, 3 * piece_, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, piece_, 0, 17, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&range, piece_, 0, 0, 1));
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&range, std::size_t{1} << 60U, 0, 0, 0));
  EXPECT_EQ(0U, range);
  ASSERT_OK(cuMemAddressReserve(&range, 2 * piece_, 16 * piece_, 0, 0));
  EXPECT_EQ(0U, range % (16 * piece_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, piece_)) << "a part";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range + piece_, piece_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(range));
  EXPECT_OK(cuMemAddressFree(range, 2 * piece_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 2 * piece_)) << "twice";
}

TEST_F(Virtual, AHintIsFollowedWhereNothingElseIs) {
  const CUdeviceptr large = reserve(512);  // so large that nobody else takes its middle meanwhile
  ASSERT_OK(cuMemAddressFree(large, 512 * piece_));
  const CUdeviceptr wanted = large + 256 * piece_;
  CUdeviceptr range = 0;
  ASSERT_OK(cuMemAddressReserve(&range, 2 * piece_, 0, wanted, 0));
  EXPECT_EQ(wanted, range);
  CUdeviceptr other = 0;
  ASSERT_OK(cuMemAddressReserve(&other, piece_, 0, wanted, 0)) << "a hint at what is taken";
  EXPECT_NE(wanted, other);
  EXPECT_OK(cuMemAddressFree(other, piece_));
  EXPECT_OK(cuMemAddressFree(range, 2 * piece_));
}

TEST_F(Virtual, RefusesMemoryThatCannotBe) {
  CUmemGenericAllocationHandle handle = 77;
  const auto with = [&](auto change) {
    CUmemAllocationProp changed = properties_;
    change(changed);
    std::size_t granularity = 0;
    const CUresult code = cuMemCreate(&handle, piece_, &changed, 0);
    EXPECT_CODE(code,
                cuMemGetAllocationGranularity(&granularity, &changed, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return code;
  };
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemCreate(nullptr, piece_, &properties_, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, piece_, nullptr, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, piece_, &properties_, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, 0, &properties_, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, piece_ + 4096, &properties_, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, with([](auto& wish) { wish.type = CU_MEM_ALLOCATION_TYPE_INVALID; }));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              with([](auto& wish) { wish.location.type = CU_MEM_LOCATION_TYPE_INVALID; }));
  EXPECT_CODE(CUDA_ERROR_INVALID_DEVICE, with([](auto& wish) { wish.location.id = 1000; }));
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED,
              with([](auto& wish) { wish.location.type = CU_MEM_LOCATION_TYPE_HOST; }));
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED,
              with([](auto& wish) { wish.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR; }));
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, with([](auto& wish) { wish.allocFlags.gpuDirectRDMACapable = 1; }));
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED,
              with([](auto& wish) { wish.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL; }));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemRelease(77));
  EXPECT_EQ(77U, handle);
  // That memory be compressible is a hint; what was made says that it is not.
  properties_.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  handle = create(1);
  CUmemAllocationProp made{};
  EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&made, handle));
  EXPECT_EQ(CU_MEM_ALLOCATION_TYPE_PINNED, made.type);
  EXPECT_EQ(CU_MEM_LOCATION_TYPE_DEVICE, made.location.type);
  EXPECT_EQ(device_, made.location.id);
  EXPECT_EQ(CU_MEM_ALLOCATION_COMP_NONE, made.allocFlags.compressionType);
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED,
              cuMemExportToShareableHandle(&made, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  EXPECT_OK(cuMemRelease(handle));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle)) << "twice";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(&made, handle));
}

TEST_F(Virtual, RefusesMappingsThatCannotBe) {
  const CUdeviceptr range = reserve(4);
  const auto handle = create(2);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, map(range, 2, handle + 1000));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, map(range, 3, handle)) << "more than there is";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, map(range, 0, handle));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, map(range + 4096, 1, handle));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, 4096, 0, handle, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, piece_, piece_, handle, 0)) << "an offset";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, piece_, 0, handle, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, map(range + 3 * piece_, 2, handle)) << "beyond the end";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, map(range - piece_, 2, handle));
  ASSERT_OK(map(range + piece_, 2, handle));
  for (const std::size_t first : {0U, 1U, 2U})
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, map(range + first * piece_, 2, handle)) << "taken: " << first;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, unmap(range + piece_, 1)) << "a part";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, unmap(range + 2 * piece_, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, unmap(range, 3)) << "a gap";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, unmap(range + piece_, 3));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, allow(range + piece_, 1)) << "a part";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, allow(range, 4));
  CUmemAccessDesc wish{properties_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range + piece_, 2 * piece_, &wish, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range + piece_, 2 * piece_, nullptr, 1));
  wish.flags = static_cast<CUmemAccess_flags>(2);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range + piece_, 2 * piece_, &wish, 1));
  wish = {{CU_MEM_LOCATION_TYPE_DEVICE, 1000}, CU_MEM_ACCESS_FLAGS_PROT_READ};
  EXPECT_CODE(CUDA_ERROR_INVALID_DEVICE, cuMemSetAccess(range + piece_, 2 * piece_, &wish, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 4 * piece_)) << "something is mapped";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(range + piece_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(range + piece_, nullptr));
  EXPECT_OK(unmap(range + piece_, 2));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, unmap(range + piece_, 2)) << "twice";
  EXPECT_OK(cuMemRelease(handle));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, map(range, 1, handle)) << "released";
  EXPECT_OK(cuMemAddressFree(range, 4 * piece_));
}

TEST_F(Virtual, NothingButCallsWithAccessReachesAMapping) {
  const CUdeviceptr range = reserve(2);
  const auto handle = create(2);
  ASSERT_OK(map(range, 2, handle));
  unsigned long long flags = 9;
  EXPECT_OK(cuMemGetAccess(&flags, &properties_.location, range + piece_));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_NONE, flags);
  unsigned word = 5;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(range, &word, 4));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&word, range, 4));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(range, 1, 1));
  ASSERT_OK(allow(range, 2));
  EXPECT_OK(cuMemsetD32(range, 7, 1));
  ASSERT_OK(allow(range, 2, CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_OK(cuMemGetAccess(&flags, &properties_.location, range));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_READ, flags);
  EXPECT_EQ(std::vector<unsigned>{7}, download<unsigned>(range, 1));
  const CUdeviceptr other = allocate(64);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(range, &word, 4));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(range, other, 4));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(range, 1, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(nullptr, range, 1, 0));
  EXPECT_OK(cuMemcpyDtoD(other, range, 4));
  EXPECT_EQ(std::vector<unsigned>{7}, download<unsigned>(other, 1));
  ASSERT_OK(allow(range, 2, CU_MEM_ACCESS_FLAGS_PROT_NONE));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(other, range, 4));
  EXPECT_OK(unmap(range, 2));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemGetAccess(&flags, &properties_.location, range));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&word, range, 4));
  ASSERT_OK(map(range, 2, handle));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&word, range, 4)) << "access goes with the mapping";
  EXPECT_OK(unmap(range, 2));
  EXPECT_OK(cuMemRelease(handle));
  EXPECT_OK(cuMemAddressFree(range, 2 * piece_));
}

TEST_F(Virtual, MemoryLivesWhileItHasAHandleOrAMapping) {
  const std::size_t before = free_memory();
  const CUdeviceptr range = reserve(4);
  EXPECT_EQ(before, free_memory()) << "addresses cost nothing";
  const auto handle = create(2);
  EXPECT_EQ(before - 2 * piece_, free_memory());
  ASSERT_OK(map(range, 2, handle));
  ASSERT_OK(map(range + 2 * piece_, 2, handle));
  ASSERT_OK(allow(range, 4));
  EXPECT_EQ(before - 2 * piece_, free_memory()) << "mapped twice, charged once";
  EXPECT_OK(cuMemsetD32(range + piece_, 42, 1));
  EXPECT_EQ(std::vector<unsigned>{42}, download<unsigned>(range + 3 * piece_, 1)) << "the same bytes";
  EXPECT_OK(cuMemRelease(handle));
  CUmemAllocationProp made{};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(&made, handle));
  EXPECT_OK(unmap(range, 2));
  EXPECT_EQ(before - 2 * piece_, free_memory());
  EXPECT_EQ(std::vector<unsigned>{42}, download<unsigned>(range + 3 * piece_, 1));
  // The mapping gives the handle anew, as often as it is asked.
  CUmemGenericAllocationHandle again = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range)));
  for (int time = 0; time < 2; ++time)
    ASSERT_OK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range + 3 * piece_ + 5)));
  EXPECT_EQ(handle, again);
  EXPECT_OK(unmap(range + 2 * piece_, 2));
  EXPECT_EQ(before - 2 * piece_, free_memory());
  EXPECT_OK(cuMemRelease(again));
  ASSERT_OK(map(range, 2, again)) << "it has a second use";
  ASSERT_OK(allow(range, 2));
  EXPECT_EQ(std::vector<unsigned>{42}, download<unsigned>(range + piece_, 1));
  EXPECT_OK(cuMemRelease(again));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemRelease(again));
  EXPECT_OK(unmap(range, 2));
  EXPECT_EQ(before, free_memory());
  EXPECT_OK(cuMemAddressFree(range, 4 * piece_));
}

TEST_F(Virtual, AddressesSayWhatTheyAre) {
  const CUdeviceptr range = reserve(4);
  const auto handle = create(1);
  ASSERT_OK(map(range + piece_, 1, handle));
  ASSERT_OK(map(range + 2 * piece_, 1, handle));
  ASSERT_OK(allow(range + 2 * piece_, 1));
  const CUdeviceptr inside = range + 2 * piece_ + 100;
  EXPECT_EQ(CU_MEMORYTYPE_DEVICE, attribute<CUmemorytype>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside));
  EXPECT_EQ(inside, attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, inside));
  EXPECT_EQ(device_, attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside));
  EXPECT_EQ(nullptr, attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, inside));
  EXPECT_EQ(0, attribute<int>(CU_POINTER_ATTRIBUTE_IS_MANAGED, inside));
  EXPECT_EQ(0U, attribute<std::uint64_t>(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, inside));
  EXPECT_EQ(range, attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside));
  EXPECT_EQ(4 * piece_, attribute<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside));
  EXPECT_EQ(range + 2 * piece_, attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, inside));
  EXPECT_EQ(piece_, attribute<std::size_t>(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, inside));
  EXPECT_EQ(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE,
            attribute<int>(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, inside));
  EXPECT_EQ(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE,
            attribute<int>(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, range + piece_));
  const auto block = [](CUdeviceptr address) {
    return attribute<std::uint64_t>(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, address);
  };
  EXPECT_EQ(block(range + piece_), block(inside)) << "the same memory";
  EXPECT_NE(block(allocate(64)), block(inside));
  CUdeviceptr base = 0;
  std::size_t size = 0;
  EXPECT_OK(cuMemGetAddressRange(&base, &size, inside));
  EXPECT_EQ(range + 2 * piece_, base);
  EXPECT_EQ(piece_, size);
  EXPECT_CODE(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, range));
  int type = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, range));
  EXPECT_OK(unmap(range + piece_, 2)) << "both at once: they adjoin";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside));
  EXPECT_OK(cuMemRelease(handle));
  EXPECT_OK(cuMemAddressFree(range, 4 * piece_));
}
