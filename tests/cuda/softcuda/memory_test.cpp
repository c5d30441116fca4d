// Memory: allocation, host memory, copies of every shape, fills, pools, and queries of addresses.
#include <cstring>
#include <numeric>
#include <random>

#include "fixture.hpp"
#include "tests/harness/seed.hpp"

namespace {

std::vector<std::uint8_t> random_bytes(std::mt19937_64& random, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

}  // namespace

TEST_F(WithContext, MemoryIsCountedAndGivenBack) {
  std::size_t before = 0;
  std::size_t total = 0;
  ASSERT_OK(cuMemGetInfo(&before, &total));
  const CUdeviceptr address = allocate(1U << 20U);
  EXPECT_EQ(0U, address % 256);
  std::size_t during = 0;
  ASSERT_OK(cuMemGetInfo(&during, &total));
  EXPECT_EQ(before - (1U << 20U), during);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(address + 1));
  EXPECT_OK(cuMemFree(address));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(address));
  EXPECT_OK(cuMemFree(0));
  CUdeviceptr none = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&none, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(nullptr, 16));
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&none, total + 1));
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&none, SIZE_MAX));
  allocate(4096);  // the context frees it
  EXPECT_OK(cuCtxDestroy(context_));
  ASSERT_OK(cuCtxCreate(&context_, nullptr, 0, device_));
  std::size_t after = 0;
  ASSERT_OK(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
}

TEST_F(WithContext, CopiesStayWithinAllocations) {
  const CUdeviceptr memory = allocate(100);
  std::vector<std::uint8_t> host(200);
  EXPECT_OK(cuMemcpyHtoD(memory, host.data(), 100));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory, host.data(), 101));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory + 1, host.data(), 100));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host.data(), memory + 50, 51));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory, nullptr, 100));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(0x1000, host.data(), 4));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(memory, memory + 90, 20));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory, host.data(), SIZE_MAX));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(memory, 0, 101));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory, 0, SIZE_MAX / 2));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory + 2, 0, 4));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(memory, 6, 0, 1, 2));
  EXPECT_OK(cuMemcpyHtoD(memory, host.data(), 0));
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoDAsync(memory, host.data(), 101, stream));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE,
              cuMemcpyHtoDAsync(memory, host.data(), 10, reinterpret_cast<CUstream>(&host)));
}

TEST_F(WithContext, LinearCopiesOfEveryKindMoveTheBytes) {
  std::mt19937_64 random(fairgv::harness::printed_seed());
  constexpr std::size_t kBytes = 300'000;  // more than the staging memory holds
  const auto source = random_bytes(random, kBytes);
  void* pinned = nullptr;
  ASSERT_OK(cuMemHostAlloc(&pinned, kBytes, 0));
  const CUdeviceptr first = allocate(kBytes);
  const CUdeviceptr second = allocate(kBytes);
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, 0));
  std::vector<std::uint8_t> result(kBytes);
  EXPECT_OK(cuMemcpyHtoD(first, source.data(), kBytes));
  EXPECT_OK(cuMemcpyDtoD(second, first, kBytes));
  EXPECT_OK(cuMemcpyDtoH(result.data(), second, kBytes));
  EXPECT_EQ(source, result);
  std::memcpy(pinned, source.data(), kBytes);
  EXPECT_OK(cuMemsetD8(first, 0, kBytes));
  EXPECT_OK(cuMemcpyHtoDAsync(first, pinned, kBytes, stream));
  EXPECT_OK(cuMemcpyDtoDAsync(second, first, kBytes, stream));
  std::fill(result.begin(), result.end(), std::uint8_t{0});
  EXPECT_OK(cuMemcpyDtoHAsync(result.data(), second, kBytes, stream));  // pageable: returns when done
  EXPECT_EQ(source, result);
  EXPECT_OK(cuMemsetD8Async(first, 0, kBytes, stream));
  EXPECT_OK(cuMemcpyAsync(first, reinterpret_cast<CUdeviceptr>(source.data()), kBytes, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuMemcpy(reinterpret_cast<CUdeviceptr>(result.data()), first, kBytes));
  EXPECT_EQ(source, result);
  EXPECT_OK(cuMemcpyPeer(second, context_, first, context_, kBytes));
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyPeer(second, nullptr, first, context_, kBytes));
  EXPECT_OK(cuMemFreeHost(pinned));
}

TEST_F(WithContext, PageableSourceMayChangeAsSoonAsTheCallReturns) {
  constexpr std::size_t kCount = 1000;
  const CUdeviceptr memory = allocate(kCount * sizeof(int));
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Gate gate;
  ASSERT_OK(gate.close(stream));
  std::vector<int> source(kCount, 41);
  EXPECT_OK(cuMemcpyHtoDAsync(memory, source.data(), kCount * sizeof(int), stream));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  std::fill(source.begin(), source.end(), 0);
  gate.open();
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(std::vector<int>(kCount, 41), download<int>(memory, kCount));
}

TEST_F(WithContext, FillsOfEveryWidthFillWhatTheySay) {
  const CUdeviceptr memory = allocate(64 * 16);
  EXPECT_OK(cuMemsetD8(memory, 0xee, 64 * 16));
  EXPECT_OK(cuMemsetD16(memory, 0x1234, 8));
  EXPECT_OK(cuMemsetD32(memory + 16, 0x89abcdef, 4));
  EXPECT_OK(cuMemsetD2D8(memory + 64, 64, 0x11, 3, 2));
  EXPECT_OK(cuMemsetD2D16(memory + 192, 64, 0x2222, 2, 2));
  EXPECT_OK(cuMemsetD2D32Async(memory + 320, 64, 0x33333333, 2, 2, nullptr));
  const auto bytes = download<std::uint8_t>(memory, 64 * 16);
  std::vector<std::uint8_t> expected(64 * 16, 0xee);
  for (std::size_t at = 0; at < 16; at += 2) expected[at] = 0x34, expected[at + 1] = 0x12;
  for (std::size_t at = 16; at < 32; at += 4) {
    expected[at] = 0xef, expected[at + 1] = 0xcd, expected[at + 2] = 0xab, expected[at + 3] = 0x89;
  }
  for (std::size_t row = 0; row < 2; ++row) {
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(64 + row * 64), 3, std::uint8_t{0x11});
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(192 + row * 64), 4, std::uint8_t{0x22});
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(320 + row * 64), 8, std::uint8_t{0x33});
  }
  EXPECT_EQ(expected, bytes);
}

TEST_F(WithContext, PitchedCopiesKeepRowsApart) {
  constexpr std::size_t kWidth = 100;
  constexpr std::size_t kHeight = 7;
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  ASSERT_OK(cuMemAllocPitch(&memory, &pitch, kWidth, kHeight, 4));
  EXPECT_GE(pitch, kWidth);
  EXPECT_EQ(0U, pitch % 256);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&memory, &pitch, kWidth, kHeight, 3));
  ASSERT_OK(cuMemsetD8(memory, 0, pitch * kHeight));
  std::vector<std::uint8_t> packed(kWidth * kHeight);
  std::iota(packed.begin(), packed.end(), std::uint8_t{1});
  CUDA_MEMCPY2D box{};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = packed.data();
  box.srcPitch = kWidth;
  box.srcXInBytes = 10;
  box.srcY = 2;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = memory;
  box.dstPitch = pitch;
  box.dstXInBytes = 5;
  box.dstY = 1;
  box.WidthInBytes = 20;
  box.Height = 3;
  EXPECT_OK(cuMemcpy2D(&box));
  const auto bytes = download<std::uint8_t>(memory, pitch * kHeight);
  std::vector<std::uint8_t> expected(pitch * kHeight);
  for (std::size_t y = 0; y < 3; ++y) {
    std::memcpy(&expected[(y + 1) * pitch + 5], &packed[(y + 2) * kWidth + 10], 20);
  }
  EXPECT_EQ(expected, bytes);
  box.dstY = kHeight - 2;  // the last row would lie behind the memory
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&box));
  box.dstY = 1;
  box.dstPitch = 24;  // less than a row
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy2DUnaligned(&box));
  box.dstPitch = SIZE_MAX;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&box));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(nullptr));
}

TEST_F(WithContext, ArraysAreCopiedInAndOutInThreeDimensions) {
  CUDA_ARRAY3D_DESCRIPTOR wish{8, 4, 3, CU_AD_FORMAT_FLOAT, 1, 0};
  CUarray array = nullptr;
  ASSERT_OK(cuArray3DCreate(&array, &wish));
  CUDA_ARRAY3D_DESCRIPTOR told{};
  EXPECT_OK(cuArray3DGetDescriptor(&told, array));
  EXPECT_EQ(wish.Width, told.Width);
  EXPECT_EQ(wish.Depth, told.Depth);
  std::vector<float> source(8 * 4 * 3);
  std::iota(source.begin(), source.end(), 1.0F);
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = source.data();
  box.srcPitch = 32;
  box.srcHeight = 4;
  box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  box.dstArray = array;
  box.WidthInBytes = 32;
  box.Height = 4;
  box.Depth = 3;
  EXPECT_OK(cuMemcpy3D(&box));
  box.dstZ = 1;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&box));
  std::vector<float> corner(2 * 2 * 2);
  CUDA_MEMCPY3D back{};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = array;
  back.srcXInBytes = 4;
  back.srcY = 1;
  back.srcZ = 1;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = corner.data();
  back.dstPitch = 8;
  back.dstHeight = 2;
  back.WidthInBytes = 8;
  back.Height = 2;
  back.Depth = 2;
  EXPECT_OK(cuMemcpy3DAsync(&back, nullptr));
  const auto at = [&](std::size_t x, std::size_t y, std::size_t z) { return source[(z * 4 + y) * 8 + x]; };
  EXPECT_EQ((std::vector<float>{at(1, 1, 1), at(2, 1, 1), at(1, 2, 1), at(2, 2, 1), at(1, 1, 2), at(2, 1, 2),
                                at(1, 2, 2), at(2, 2, 2)}),
            corner);
  std::vector<float> row(4);
  EXPECT_OK(cuMemcpyAtoH(row.data(), array, 8, 16));
  EXPECT_EQ((std::vector<float>{3, 4, 5, 6}), row);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(row.data(), array, 24, 16));
  EXPECT_OK(cuArrayDestroy(array));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
  wish.NumChannels = 3;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &wish));
}

TEST_F(WithContext, HostMemoryIsPinnedMappedAndRegistered) {
  void* pinned = nullptr;
  ASSERT_OK(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE));
  CUdeviceptr mapped = 0;
  EXPECT_OK(cuMemHostGetDevicePointer(&mapped, pinned, 0));
  unsigned flags = 0;
  EXPECT_OK(cuMemHostGetFlags(&flags, pinned));
  EXPECT_EQ(unsigned{CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP}, flags);
  EXPECT_OK(cuMemsetD8(mapped, 7, 4096));  // waits: the program may read at once
  EXPECT_EQ(7, static_cast<unsigned char*>(pinned)[4095]);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(mapped));
  EXPECT_OK(cuMemFreeHost(pinned));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(pinned));
  std::vector<char> own(10'000);
  EXPECT_OK(cuMemHostRegister(own.data(), own.size(), CU_MEMHOSTREGISTER_DEVICEMAP));
  EXPECT_CODE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(own.data() + 100, 10, 0));
  EXPECT_OK(cuMemHostGetDevicePointer(&mapped, own.data() + 5, 0));
  EXPECT_OK(cuMemHostUnregister(own.data()));
  EXPECT_CODE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own.data()));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&mapped, own.data(), 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&pinned, 16, 0x80));
}

TEST_F(WithContext, AddressesSayWhatTheyAre) {
  const CUdeviceptr memory = allocate(1000);
  CUdeviceptr managed = 0;
  ASSERT_OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  CUdeviceptr base = 0;
  std::size_t size = 0;
  EXPECT_OK(cuMemGetAddressRange(&base, &size, memory + 999));
  EXPECT_EQ(memory, base);
  EXPECT_EQ(1000U, size);
  EXPECT_CODE(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, 0x10));
  CUmemorytype type{};
  EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
  EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
  unsigned is_managed = 0;
  EXPECT_OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed + 5));
  EXPECT_EQ(1U, is_managed);
  CUcontext owner = nullptr;
  EXPECT_OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  EXPECT_EQ(context_, owner);
  int on_stack = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                              reinterpret_cast<CUdeviceptr>(&on_stack)));
  CUpointer_attribute both[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  int ordinal = 5;
  void* answers[] = {&type, &ordinal};
  EXPECT_OK(cuPointerGetAttributes(2, both, answers, reinterpret_cast<CUdeviceptr>(&on_stack)));
  EXPECT_EQ(0, static_cast<int>(type));
  EXPECT_EQ(-2, ordinal);
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, device_};
  EXPECT_OK(cuMemPrefetchAsync(managed, 64, here, 0, nullptr));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(memory, 64, here, 0, nullptr));
  EXPECT_OK(cuMemAdvise(managed, 64, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAdvise(managed, 65, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
}

TEST_F(WithContext, PoolMemoryIsFreedInStreamOrder) {
  CUmemoryPool pool = nullptr;
  ASSERT_OK(cuDeviceGetDefaultMemPool(&pool, device_));
  const auto used = [&pool] {
    cuuint64_t bytes = 0;
    EXPECT_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
  };
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, 0));
  Gate gate;
  ASSERT_OK(gate.close(stream));
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAllocAsync(&memory, 1000, stream));
  EXPECT_EQ(1000U, used());
  EXPECT_OK(cuMemsetD8Async(memory, 3, 1000, stream));
  EXPECT_OK(cuMemFreeAsync(memory, stream));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(memory, stream));
  EXPECT_EQ(is_tenant() ? 0U : 1000U, used());  // the stream has not reached it; a tenant's books do not wait
  gate.open();
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(0U, used());
  CUmemPoolProps wish{};
  wish.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wish.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_};
  wish.maxSize = 4096;
  ASSERT_OK(cuMemPoolCreate(&pool, &wish));
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&memory, 5000, pool, stream));
  EXPECT_OK(cuMemAllocFromPoolAsync(&memory, 4096, pool, stream));
  cuuint64_t threshold = 77;
  EXPECT_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  threshold = 0;
  EXPECT_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  EXPECT_EQ(77U, threshold);
  EXPECT_OK(cuMemPoolTrimTo(pool, 0));
  EXPECT_OK(cuMemFree(memory));
  EXPECT_EQ(0U, used());
  EXPECT_OK(cuMemPoolDestroy(pool));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&memory, 16, pool, stream));
}
