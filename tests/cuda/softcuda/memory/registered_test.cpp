// Registered memory in kernels: cuMemHostRegister and cuMemHostGetDevicePointer.
#include <sys/mman.h>

#include <cstring>
#include <numeric>

#include "tests/cuda/softcuda/fixture.hpp"

namespace {

CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

/// Memory of the program that the test may unmap and protect.
class Pages {
 public:
  explicit Pages(std::size_t bytes) : bytes_(bytes) {
    at_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(MAP_FAILED, at_);
  }
  ~Pages() { unmap(); }
  void unmap() {
    if (at_ != nullptr) ::munmap(at_, bytes_);
    at_ = nullptr;
  }
  void protect() { EXPECT_EQ(0, ::mprotect(at_, bytes_, PROT_READ)); }
  template <typename Value>
  Value* as() const {
    return static_cast<Value*>(at_);
  }

 private:
  const std::size_t bytes_;
  void* at_ = nullptr;
};

class Registered : public WithModule {
 protected:
  static constexpr unsigned kCount = 5000;
  static constexpr std::size_t kBytes = kCount * sizeof(unsigned);

  void SetUp() override {
    WithModule::SetUp();
    std::iota(own_.begin(), own_.end(), 0U);
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }
  /// Registers own_, and says where kernels find it.
  CUdeviceptr map(unsigned flags = CU_MEMHOSTREGISTER_DEVICEMAP) {
    EXPECT_OK(cuMemHostRegister(own_.data(), kBytes, flags));
    return mapped();
  }
  CUdeviceptr mapped() {
    CUdeviceptr address = 0;
    EXPECT_OK(cuMemHostGetDevicePointer(&address, own_.data(), 0));
    return address;
  }
  CUresult increment(CUdeviceptr from, CUstream stream = nullptr, unsigned count = kCount) {
    return launch("increment", (count + 127) / 128, 128, stream, from, count);
  }
  void expect_incremented(unsigned by) {
    for (unsigned at = 0; at < kCount; ++at) ASSERT_EQ(at + by, own_[at]) << at;
  }

  std::vector<unsigned> own_ = std::vector<unsigned>(kCount);
  CUstream stream_ = nullptr;
};

}  // namespace

TEST_F(Registered, KernelsAndTheProgramSeeEachOthersWrites) {
  const CUdeviceptr device = map();
  for (unsigned round = 1; round <= 5; ++round) {
    EXPECT_OK(increment(device));
    EXPECT_OK(cuCtxSynchronize());
    expect_incremented(round);
  }
  own_[7] = 1000;
  own_[kCount - 1] = 2000;
  CUdeviceptr middle = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&middle, &own_[7], 0));
  EXPECT_EQ(device + 7 * sizeof(unsigned), middle);
  EXPECT_OK(increment(middle, nullptr, 1));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(1001U, own_[7]);
  EXPECT_EQ(8 + 5U, own_[8]);
  EXPECT_EQ(2000U, own_[kCount - 1]);
  EXPECT_OK(cuMemHostUnregister(own_.data()));
  own_[7] = 3;  // the program's own again
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(3U, own_[7]);
}

TEST_F(Registered, EveryWaitBringsTheKernelsWrites) {
  const CUdeviceptr device = map();
  CUevent event = nullptr;
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_OK(increment(device, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  expect_incremented(1);
  EXPECT_OK(increment(device, stream_));
  EXPECT_OK(cuEventRecord(event, stream_));
  EXPECT_OK(cuEventSynchronize(event));
  expect_incremented(2);
  EXPECT_OK(increment(device, stream_));
  while (cuStreamQuery(stream_) == CUDA_ERROR_NOT_READY) {
  }
  expect_incremented(3);
  EXPECT_OK(increment(device, stream_));
  EXPECT_OK(cuEventRecord(event, stream_));
  while (cuEventQuery(event) == CUDA_ERROR_NOT_READY) {
  }
  expect_incremented(4);
  // A host function sees them, and what it writes is there for the next kernel.
  EXPECT_OK(increment(device, stream_));
  EXPECT_OK(cuLaunchHostFunc(
      stream_, [](void* own) { static_cast<unsigned*>(own)[3] *= 100; }, own_.data()));
  EXPECT_OK(increment(device, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ((3U + 5) * 100 + 1, own_[3]);
  EXPECT_EQ(4U + 6, own_[4]);
  EXPECT_OK(cuMemHostUnregister(own_.data()));
}

TEST_F(Registered, CopiesAndFillsByEitherAddressKeepTheStreamsOrder) {
  const CUdeviceptr device = map();
  const CUdeviceptr memory = allocate(kBytes);
  // Behind a gate, so that nothing has run when the copies are called.
  {
    Gate gate;
    ASSERT_OK(gate.close(stream_));
    EXPECT_OK(increment(device, stream_));
    EXPECT_OK(cuMemcpyHtoDAsync(memory, own_.data(), kBytes, stream_));  // what the kernel has written
    EXPECT_OK(increment(memory, stream_));
    EXPECT_OK(cuMemcpyDtoHAsync(own_.data() + 1, memory + 4, kBytes - 4, stream_));
    EXPECT_OK(increment(device, stream_));
    EXPECT_EQ(1U, own_[1]);
  }
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(0 + 2U, own_[0]);
  for (unsigned at = 1; at < kCount; ++at) ASSERT_EQ(at + 3, own_[at]) << at;

  EXPECT_OK(cuMemcpyDtoH(own_.data(), device + 40, 40));  // registered, by both addresses
  EXPECT_EQ(10 + 3U, own_[0]);
  own_[1] = 77;
  EXPECT_EQ((std::vector<unsigned>{10 + 3, 77}), download<unsigned>(device, 2));
  upload(device + 8, std::vector<unsigned>{5, 6});
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(5U, own_[2]);
  EXPECT_EQ(6U, own_[3]);
  EXPECT_OK(cuMemsetD32(device + 16, 99, 2));  // waits, as for all host memory
  EXPECT_EQ(99U, own_[5]);
  EXPECT_OK(increment(device, stream_));
  EXPECT_OK(cuMemsetD32Async(address_of(&own_[6]), 98, 1, stream_));
  EXPECT_OK(increment(device, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(101U, own_[5]);
  EXPECT_EQ(99U, own_[6]);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(device + kBytes - 4, 0, 2));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(memory, device + 4, kBytes));
  EXPECT_OK(cuMemHostUnregister(own_.data()));
}

TEST_F(Registered, CopyThatReachesBeyondTheRangeMovesTheProgramsBytes) {
  ASSERT_OK(cuMemHostRegister(own_.data(), 400, 0));
  const CUdeviceptr device = mapped();
  const CUdeviceptr memory = allocate(kBytes);
  EXPECT_OK(increment(device, stream_, 100));
  EXPECT_OK(cuMemcpyHtoDAsync(memory, own_.data(), 800, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  const auto copied = download<unsigned>(memory, 200);
  EXPECT_EQ(1U, copied[0]);
  EXPECT_EQ(100U, copied[99]);
  EXPECT_EQ(100U, copied[100]);
  EXPECT_EQ(199U, copied[199]);
  EXPECT_OK(cuMemHostUnregister(own_.data()));
}

TEST_F(Registered, RowsAreCopiedByEitherAddress) {
  const CUdeviceptr device = map();
  const CUdeviceptr memory = allocate(kBytes);
  EXPECT_OK(increment(device, stream_));
  CUDA_MEMCPY2D box{};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = own_.data();
  box.srcPitch = 400;
  box.srcXInBytes = 8;
  box.srcY = 1;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = memory;
  box.dstPitch = 64;
  box.WidthInBytes = 16;
  box.Height = 3;
  EXPECT_OK(cuMemcpy2DAsync(&box, stream_));
  CUDA_MEMCPY2D back{};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = memory;
  back.srcPitch = 64;
  back.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  back.dstDevice = device;
  back.dstPitch = 400;
  back.WidthInBytes = 16;
  back.Height = 3;
  EXPECT_OK(cuMemcpy2DAsync(&back, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  for (unsigned row = 0; row < 3; ++row) {
    for (unsigned at = 0; at < 4; ++at) ASSERT_EQ((row + 1) * 100 + 2 + at + 1, own_[row * 100 + at]);
    ASSERT_EQ(row * 100 + 5, own_[row * 100 + 4]);
  }
  EXPECT_OK(cuMemHostUnregister(own_.data()));
}

TEST_F(Registered, GraphsHaveItToo) {
  const CUdeviceptr device = map();
  const CUdeviceptr memory = allocate(kBytes);
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_OK(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(increment(device, stream_));
  EXPECT_OK(cuMemcpyHtoDAsync(memory, own_.data(), kBytes, stream_));
  EXPECT_OK(increment(memory, stream_));
  EXPECT_OK(cuMemcpyDtoHAsync(own_.data(), memory, kBytes, stream_));
  EXPECT_OK(increment(device, stream_));
  ASSERT_OK(cuStreamEndCapture(stream_, &graph));
  ASSERT_OK(cuGraphInstantiate(&executable, graph, 0));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  expect_incremented(6);
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(cuMemHostUnregister(own_.data()));
}

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
  Pages pages(3 * 4096);
  ASSERT_EQ(0, ::munmap(pages.as<char>() + 4096, 4096));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(pages.as<char>() + 4000, 200, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(pages.as<char>(), 3 * 4096, 0));
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
  for (unsigned at = 0; at < kFloats; ++at) ASSERT_EQ(2.0F * static_cast<float>(at), sums[at]);
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
  // What nobody may write to cannot be kept up to date.
  ASSERT_OK(cuMemHostRegister(values, 64, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&device, values, 0));
  EXPECT_OK(cuMemHostUnregister(values));
}

TEST_F(Registered, MemoryOfManyPiecesAndOddSizeComesBackWhole) {
  constexpr std::size_t kWords = (std::size_t{9} << 18U) + 1;
  std::vector<unsigned> large(kWords + 1);
  std::iota(large.begin(), large.end(), 5U);
  ASSERT_OK(cuMemHostRegister(large.data(), kWords * 4 + 3, 0));
  CUdeviceptr device = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&device, large.data(), 0));
  large[kWords / 2] = 1;
  EXPECT_OK(increment(device, nullptr, kWords));
  EXPECT_OK(cuMemsetD8Async(device + kWords * 4, 0xab, 3, nullptr));
  EXPECT_OK(cuCtxSynchronize());
  for (std::size_t at = 0; at < kWords; ++at) {
    const auto expected = at == kWords / 2 ? 2U : static_cast<unsigned>(at) + 6;
    ASSERT_EQ(expected, large[at]) << at;
  }
  EXPECT_EQ(((static_cast<unsigned>(kWords) + 5) & 0xff000000U) | 0xabababU, large[kWords]);
  EXPECT_OK(cuMemHostUnregister(large.data()));
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
  // The other context's work in flight is waited for, too, when the memory is unregistered elsewhere.
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
