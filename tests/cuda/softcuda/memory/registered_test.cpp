// Registered memory: its addresses and attributes, what is refused, and how it ends.
#include <numeric>

#include "tests/cuda/softcuda/memory/registered_fixture.hpp"

TEST_F(Registered, AttributesNameBothAddresses) {
  const CUdeviceptr device = map(CU_MEMHOSTREGISTER_PORTABLE);
  int shares = -1;
  EXPECT_OK(
      cuDeviceGetAttribute(&shares, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, device_));
  EXPECT_EQ(shares != 0, device == address_of(own_.data()));
  int supported = 0;
  EXPECT_OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, device_));
  EXPECT_EQ(1, supported);
  for (const CUdeviceptr from : {address_of(own_.data()), device}) {
    CUmemorytype type{};
    void* host = nullptr;
    CUdeviceptr on_device = 0;
    unsigned is_managed = 7;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_HOST_POINTER,
                                   CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void* values[] = {&type, &host, &on_device, &is_managed};
    EXPECT_OK(cuPointerGetAttributes(4, names, values, from + 12));
    EXPECT_EQ(CU_MEMORYTYPE_HOST, type);
    EXPECT_EQ(&own_[3], host);
    EXPECT_EQ(device + 12, on_device);
    EXPECT_EQ(0U, is_managed);
    EXPECT_OK(cuPointerGetAttribute(&on_device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, from + 16));
    EXPECT_EQ(device + 16, on_device);
    CUdeviceptr begin = 0;
    std::size_t size = 0;
    EXPECT_OK(cuMemGetAddressRange(&begin, &size, from + 12));
    EXPECT_EQ(from, begin);
    EXPECT_EQ(kBytes, size);
  }
  EXPECT_EQ(device, mapped());
  unsigned flags = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostGetFlags(&flags, own_.data()));  // of cuMemHostAlloc alone
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(device));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(reinterpret_cast<void*>(device)));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(device, stream_));
  EXPECT_OK(cuMemHostUnregister(own_.data()));
  CUmemorytype type{};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
}

TEST_F(Registered, QuestionForTheDevicesAddressMapsWhatIsRegisteredForThat) {
  CUdeviceptr on_device = 0;
  const auto ask = [&] {
    return cuPointerGetAttribute(&on_device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address_of(own_.data()));
  };
  ASSERT_OK(cuMemHostRegister(own_.data(), kBytes, 0));
  // A tenant's memory for kernels costs: the question alone is not enough.
  EXPECT_CODE(is_tenant() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS, ask());
  EXPECT_OK(cuMemHostUnregister(own_.data()));
  ASSERT_OK(cuMemHostRegister(own_.data(), kBytes, CU_MEMHOSTREGISTER_DEVICEMAP));
  EXPECT_OK(ask());
  EXPECT_EQ(mapped(), on_device);
  EXPECT_OK(increment(on_device));
  EXPECT_OK(cuCtxSynchronize());
  expect_incremented(1);
  EXPECT_OK(cuMemHostUnregister(own_.data()));
}

TEST_F(Registered, WrongRangesAreRefused) {
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(own_.data(), 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(own_.data(), SIZE_MAX, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(nullptr, 16, 0));
  // Linux maps nothing for programs at the lowest addresses.
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(reinterpret_cast<void*>(4096), 200, 0));
  Pages pages(2 * 4096);
  pages.shrink(4096);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(pages.as<char>() + 4000, 200, 0));
  EXPECT_OK(cuMemHostRegister(pages.as<char>(), 4096, 0));
  EXPECT_CODE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(pages.as<char>(), 4096, 0));
  EXPECT_CODE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(pages.as<char>() + 9, 10, 0));
  EXPECT_CODE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(pages.as<char>() + 9));
  CUdeviceptr device = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&device, own_.data(), 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&device, pages.as<char>(), 1));
  EXPECT_OK(cuMemHostGetDevicePointer(&device, pages.as<char>() + 4095, 0));
  EXPECT_OK(cuMemHostUnregister(pages.as<char>()));
  EXPECT_CODE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(pages.as<char>()));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&device, pages.as<char>(), 0));
}

TEST_F(Registered, UnregisteringWaitsForWorkAndBringsItsWrites) {
  const CUdeviceptr device = map();
  constexpr unsigned kLaunches = 300;
  for (unsigned round = 0; round < kLaunches; ++round) ASSERT_OK(increment(device, stream_));
  EXPECT_OK(cuMemHostUnregister(own_.data()));
  expect_incremented(kLaunches);
}

TEST_F(Registered, ReadOnlyMemoryIsReadAndNeverWritten) {
  constexpr unsigned kFloats = 1000;
  Pages pages(kFloats * sizeof(float));
  auto* const values = pages.as<float>();
  std::iota(values, values + kFloats, 0.0F);
  pages.protect();
  int supported = 0;
  EXPECT_OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, device_));
  EXPECT_EQ(1, supported);
  ASSERT_OK(cuMemHostRegister(values, kFloats * sizeof(float), CU_MEMHOSTREGISTER_READ_ONLY));
  CUdeviceptr device = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&device, values, 0));
  const CUdeviceptr sum = allocate(kFloats * sizeof(float));
  EXPECT_OK(launch("add", 8, 128, nullptr, device, device, sum, int{kFloats}));
  const auto sums = download<float>(sum, kFloats);
  for (unsigned at = 0; at < kFloats; ++at) {
    const float bias = 0.5F + static_cast<float>(at % 4);
    ASSERT_EQ(2.0F * static_cast<float>(at) + bias, sums[at]) << at;
  }
  EXPECT_OK(cuMemcpyHtoD(sum, values, 400));
  EXPECT_EQ(99.0F, download<float>(sum, 100)[99]);
  for (const CUdeviceptr from : {address_of(values), device}) {
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpy(from, sum, 4));
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(from, 0, 4));
    CUpointer_attribute name = CU_POINTER_ATTRIBUTE_ACCESS_FLAGS;
    int access = 0;
    void* value = &access;
    EXPECT_OK(cuPointerGetAttributes(1, &name, &value, from));
    EXPECT_EQ(static_cast<int>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ), access);
  }
  if (is_tenant()) {
    // There the kernels' copy is written, and the program's stays. On the bare driver this is a fault.
    EXPECT_OK(increment(device, nullptr, 10));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(3.0F, values[3]);
  }
  EXPECT_OK(cuMemHostUnregister(values));
  if (!is_tenant()) return;
  // Memory that nobody may write to cannot be kept up to date.
  ASSERT_OK(cuMemHostRegister(values, 64, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&device, values, 0));
  EXPECT_OK(cuMemHostUnregister(values));
}

TEST_F(Registered, MemoryThatIsFreedFirstHarmsNobody) {
  Pages pages(16 * 4096);
  ASSERT_OK(cuMemHostRegister(pages.as<char>(), 16 * 4096, 0));
  CUdeviceptr device = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&device, pages.as<char>(), 0));
  EXPECT_OK(increment(device, nullptr, 100));
  EXPECT_OK(cuCtxSynchronize());
  char* const was = pages.as<char>();
  pages.unmap();
  const CUdeviceptr other = allocate(400);
  EXPECT_OK(cuMemsetD8(other, 0, 400));
  EXPECT_OK(increment(other, nullptr, 100));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(1U, download<unsigned>(other, 1)[0]);
  EXPECT_OK(cuMemHostUnregister(was));
}

TEST_F(Registered, EveryContextsKernelsHaveIt) {
  const CUdeviceptr first = map(CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  EXPECT_OK(increment(first));
  EXPECT_OK(cuCtxSynchronize());
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device_));
  CUmodule module = nullptr;
  ASSERT_OK(cuModuleLoad(&module, file_path("kernels.ptx").c_str()));
  CUfunction function = nullptr;
  ASSERT_OK(cuModuleGetFunction(&function, module, "increment"));
  const auto increment_there = [&](CUdeviceptr from) {
    unsigned count = kCount;
    void* arguments[] = {&from, &count};
    return cuLaunchKernel(function, (kCount + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr);
  };
  const CUdeviceptr second = mapped();
  EXPECT_OK(increment_there(second));
  EXPECT_OK(cuCtxSynchronize());
  expect_incremented(2);
  own_[1] = 50;
  ASSERT_OK(cuCtxSetCurrent(context_));
  EXPECT_OK(increment(first));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(51U, own_[1]);
  ASSERT_OK(cuCtxSetCurrent(other));
  EXPECT_OK(increment_there(second));
  // A tenant's call waits for the other context's work, too; the software driver's does not.
  if (!is_tenant()) {
    EXPECT_OK(cuCtxSynchronize());
  }
  ASSERT_OK(cuCtxSetCurrent(context_));
  EXPECT_OK(cuMemHostUnregister(own_.data()));
  EXPECT_EQ(52U, own_[1]);
  EXPECT_EQ(2U + 4, own_[2]);
  EXPECT_OK(cuCtxDestroy(other));
}

TEST_F(Registered, EndsWithTheContext) {
  std::size_t before = 0;
  std::size_t total = 0;
  ASSERT_OK(cuMemGetInfo(&before, &total));
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device_));
  Pages pages(64 * 4096);
  ASSERT_OK(cuMemHostRegister(pages.as<char>(), 64 * 4096, CU_MEMHOSTREGISTER_PORTABLE));
  CUdeviceptr device = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&device, pages.as<char>(), 0));
  EXPECT_OK(cuMemsetD8Async(device, 7, 64 * 4096, nullptr));
  ASSERT_OK(cuCtxSetCurrent(context_));
  ASSERT_OK(cuMemHostGetDevicePointer(&device, pages.as<char>(), 0));
  EXPECT_OK(cuCtxDestroy(other));
  EXPECT_EQ(7, pages.as<char>()[64 * 4096 - 1]);
  char* const was = pages.as<char>();
  pages.unmap();
  EXPECT_CODE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(was));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(device, 7, 4));
  EXPECT_OK(cuCtxSynchronize());
  std::size_t after = 0;
  ASSERT_OK(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
}
