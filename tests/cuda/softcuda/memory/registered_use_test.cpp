// Registered memory in kernels, copies, fills and graphs: all see the same bytes.
#include "tests/cuda/softcuda/memory/registered_fixture.hpp"

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
