// Memory operations in streams: what they wait for, who may write it, and what is refused.
#include "tests/cuda/softcuda/stream/word_fixture.hpp"

#include <array>
#include <string>

namespace {

struct Case {
  unsigned flags;
  std::uint64_t wanted;
  std::uint64_t before;  // holds the stream up
  std::uint64_t after;   // lets it go
};

TEST_F(WithWords, AStreamWaitsUntilItsConditionHolds) {
  constexpr std::uint64_t kAll = UINT64_MAX;
  const std::array<Case, 9> cases{{
      {CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 5},
      {CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 100},
      {CU_STREAM_WAIT_VALUE_GEQ, 3, kAll - 2, 3},  // numbers wrap around
      {CU_STREAM_WAIT_VALUE_EQ, 5, 6, 5},
      {CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH, 5, 6, 5},
      {CU_STREAM_WAIT_VALUE_AND, 6, 9, 4},
      {CU_STREAM_WAIT_VALUE_AND, 6, 0, 7},
      {CU_STREAM_WAIT_VALUE_NOR, 6, kAll - 6, kAll - 7},
      {CU_STREAM_WAIT_VALUE_NOR, 0, kAll, 0},
  }};
  std::uint64_t& word = words_[0];
  std::uint64_t& passed = words_[1];
  const auto wait = [&](bool is_long, const Case& one) {
    return is_long ? cuStreamWaitValue64(stream_, address(&word), one.wanted, one.flags)
                   : cuStreamWaitValue32(stream_, address(&word), static_cast<std::uint32_t>(one.wanted),
                                         one.flags);
  };
  std::uint64_t round = 0;
  for (const bool is_long : {false, true}) {
    for (const Case& one : cases) {
      SCOPED_TRACE(std::to_string(one.flags) + (is_long ? " long " : " short ") + std::to_string(round));
      seen(word).store(one.before);
      EXPECT_OK(wait(is_long, one));
      mark(stream_, passed, ++round);
      others_go_on();
      EXPECT_EQ(round - 1, seen(passed).load());
      EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
      seen(word).store(one.after);
      EXPECT_OK(cuStreamSynchronize(stream_));
      EXPECT_EQ(round, seen(passed).load());
      EXPECT_OK(wait(is_long, one)) << "which holds already";
      EXPECT_OK(cuStreamSynchronize(stream_));
    }
  }
}

TEST_F(WithWords, AShortWordIsHalfOfALongOne) {
  std::uint64_t& word = words_[0];
  word = UINT64_C(0x1111111122222222);
  EXPECT_OK(cuStreamWriteValue32(stream_, address(&word), 7, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  EXPECT_OK(cuStreamWaitValue32(stream_, address(&word) + 4, 0x11111111, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_OK(cuStreamWaitValue32(stream_, address(&word), 7, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(UINT64_C(0x1111111100000007), seen(word).load());
}

/// Parameter: the kind of memory that the word is in.
class InMemory : public WithWords, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    WithWords::SetUp();
    const std::string kind = GetParam();
    if (kind == "device") word_ = allocate(64);
    if (kind == "managed") {
      ASSERT_OK(cuMemAllocManaged(&word_, 64, CU_MEM_ATTACH_GLOBAL));
    }
    if (kind == "pinned") word_ = address(words_ + 2);
    if (kind == "pooled") {
      ASSERT_OK(cuMemAllocAsync(&word_, 64, other_));
    }
    if (kind == "variable") {
      std::size_t size = 0;
      ASSERT_OK(cuModuleGetGlobal(&word_, &size, module_, "counter"));
    }
    ASSERT_OK(cuMemsetD32Async(word_, 0, 1, other_));
    ASSERT_OK(cuStreamSynchronize(other_));
  }

  /// Whether `write`, which puts something into the other stream, lets a stream go that waits for `value`.
  template <typename Write>
  void lets_go(std::uint32_t value, const Write& write) {
    SCOPED_TRACE(value);
    EXPECT_OK(cuStreamWaitValue32(stream_, word_, value, CU_STREAM_WAIT_VALUE_EQ));
    mark(stream_, words_[1], value);
    others_go_on();
    EXPECT_NE(value, seen(words_[1]).load());
    EXPECT_OK(write(value));
    EXPECT_OK(cuStreamSynchronize(stream_));
    EXPECT_EQ(value, seen(words_[1]).load());
    EXPECT_OK(cuStreamSynchronize(other_));
  }

  CUdeviceptr word_ = 0;
};

TEST_P(InMemory, AnotherStreamLetsItGo) {
  lets_go(1, [&](unsigned value) { return cuStreamWriteValue32(other_, word_, value, 0); });
  lets_go(2, [&](unsigned value) { return cuMemsetD32Async(word_, value, 1, other_); });
  lets_go(3, [&](unsigned) { return launch("increment", 1, 1, other_, word_, 1); });
  lets_go(4, [&](unsigned value) { return cuMemcpyHtoDAsync(word_, &value, sizeof value, other_); });
}

TEST_P(InMemory, AKernelThatIsStillRunningLetsItGo) {
  std::uint64_t& until = words_[3];
  EXPECT_OK(cuStreamWaitValue32(stream_, word_, 9, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_OK(launch("signal", 1, 1, other_, word_, 9U, address(&until)));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(other_));
  seen(until).store(1);
  EXPECT_OK(cuStreamSynchronize(other_));
}

TEST_P(InMemory, TwoStreamsLetEachOtherGoInTurns) {
  constexpr unsigned kRounds = 100;
  for (unsigned round = 0; round < kRounds; ++round) {
    EXPECT_OK(cuStreamWaitValue32(stream_, word_, 2 * round, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_OK(cuStreamWriteValue32(stream_, word_, 2 * round + 1, 0));
    EXPECT_OK(cuStreamWaitValue32(other_, word_, 2 * round + 1, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_OK(cuStreamWriteValue32(other_, word_, 2 * round + 2, 0));
  }
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_OK(cuStreamSynchronize(other_));
  EXPECT_EQ(2 * kRounds, download<unsigned>(word_, 1)[0]);
}

INSTANTIATE_TEST_SUITE_P(Words, InMemory,
                         testing::Values("device", "managed", "pinned", "pooled", "variable"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_F(WithWords, TheProgramLetsAStreamGoByManagedMemory) {
  CUdeviceptr managed = 0;
  ASSERT_OK(cuMemAllocManaged(&managed, sizeof(std::uint64_t), CU_MEM_ATTACH_GLOBAL));
  std::uint64_t& word = *reinterpret_cast<std::uint64_t*>(managed);
  word = 0;
  EXPECT_OK(cuStreamWaitValue64(stream_, managed, 1, CU_STREAM_WAIT_VALUE_EQ));
  others_go_on();
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  seen(word).store(1);
  EXPECT_OK(cuStreamSynchronize(stream_));
}

TEST_F(WithWords, RegisteredMemoryIsAsGoodWhereTheDeviceHasAnAddressForIt) {
  alignas(8) static std::uint64_t own = 0;
  ASSERT_OK(cuMemHostRegister(&own, sizeof own, 0));
  const auto at = reinterpret_cast<CUdeviceptr>(&own);
  if (is_tenant()) {
    EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuStreamWaitValue64(stream_, at, 1, 0));
    EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuStreamWriteValue64(stream_, at, 1, 0));
    CUdeviceptr mapped = 0;
    ASSERT_OK(cuMemHostGetDevicePointer(&mapped, &own, 0));
    EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuStreamWaitValue64(stream_, mapped, 1, 0));
  } else {
    EXPECT_OK(cuStreamWaitValue64(stream_, at, 1, 0));
    others_go_on();
    EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
    EXPECT_OK(cuStreamWriteValue64(other_, at, 1, 0));
    EXPECT_OK(cuStreamSynchronize(stream_));
  }
  EXPECT_OK(cuMemHostUnregister(&own));
}

CUstreamBatchMemOpParams operation(CUstreamBatchMemOpType type, CUdeviceptr address = 0,
                                   std::uint64_t value = 0, unsigned flags = 0) {
  CUstreamBatchMemOpParams made{};
  made.operation = type;
  if (type == CU_STREAM_MEM_OP_BARRIER || type == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) {
    made.memoryBarrier.flags = flags;
    return made;
  }
  made.writeValue.address = address;
  made.writeValue.value64 = value;
  made.writeValue.flags = flags;
  return made;
}

TEST_F(WithWords, ABatchIsDoneInItsOrder) {
  std::array<CUstreamBatchMemOpParams, 7> batch{
      operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, address(words_), 1),
      operation(CU_STREAM_MEM_OP_BARRIER, 0, 0, CU_STREAM_MEMORY_BARRIER_TYPE_GPU),
      operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, address(words_ + 1), 5, CU_STREAM_WAIT_VALUE_EQ),
      operation(CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES),
      operation(CU_STREAM_MEM_OP_WRITE_VALUE_64, address(words_ + 2), UINT64_C(1) << 40),
      operation(CU_STREAM_MEM_OP_WAIT_VALUE_64, address(words_ + 3), UINT64_C(1) << 41),
      operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, address(words_), 2)};
  EXPECT_OK(cuStreamBatchMemOp(stream_, batch.size(), batch.data(), 0));
  EXPECT_OK(cuStreamWaitValue32(other_, address(words_), 1, CU_STREAM_WAIT_VALUE_EQ));
  others_go_on();
  EXPECT_EQ(0U, seen(words_[2]).load());
  seen(words_[1]).store(5);
  EXPECT_OK(cuStreamWaitValue64(other_, address(words_ + 2), UINT64_C(1) << 40, CU_STREAM_WAIT_VALUE_EQ));
  others_go_on();
  EXPECT_EQ(1U, seen(words_[0]).load());
  seen(words_[3]).store(UINT64_C(1) << 41);
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(2U, seen(words_[0]).load());
  EXPECT_OK(cuStreamBatchMemOp(stream_, 0, nullptr, 0));
}

TEST_F(WithWords, AWrongBatchDoesNothing) {
  const auto write = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, address(words_), 1);
  std::vector<CUstreamBatchMemOpParams> batch{write, write};
  const auto answer = [&](const CUstreamBatchMemOpParams& second) {
    batch[1] = second;
    return cuStreamBatchMemOp(stream_, 2, batch.data(), 0);
  };
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, answer(operation(static_cast<CUstreamBatchMemOpType>(7))));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, answer(operation(CU_STREAM_MEM_OP_BARRIER, 0, 0, 2)));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, answer(operation(CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, 0, 0, 1)));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              answer(operation(CU_STREAM_MEM_OP_WRITE_VALUE_64, address(words_) + 4, 1)));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              answer(operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, address(words_), 0, 4)));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream_, 1, batch.data(), 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream_, 1, nullptr, 0));
  batch.assign(256, write);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream_, 256, batch.data(), 0));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(0U, seen(words_[0]).load());
  EXPECT_OK(cuStreamBatchMemOp(stream_, 255, batch.data(), 0));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(1U, seen(words_[0]).load());
}

TEST_F(WithWords, WrongWordsAreRefused) {
  const CUdeviceptr memory = allocate(10);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream_, memory + 2, 0, 0)) << "not aligned";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue64(stream_, memory + 4, 0, 0)) << "not aligned";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream_, memory + 8, 0, 0)) << "half outside";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream_, 0, 0, 0));
  std::uint64_t pageable = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuStreamWaitValue64(stream_, reinterpret_cast<CUdeviceptr>(&pageable), 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream_, memory, 0, 0x10));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream_, memory, 0, 2));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE,
              cuStreamWriteValue32(reinterpret_cast<CUstream>(std::uintptr_t{0x1234}), memory, 0, 0));
  EXPECT_OK(cuStreamSynchronize(stream_));
}

TEST_F(WithWords, TheDeviceSaysWhatItCan) {
  for (const auto which :
       {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR,
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1,
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES}) {
    int can = 0;
    EXPECT_OK(cuDeviceGetAttribute(&can, which, device_));
    EXPECT_EQ(1, can) << which;
  }
}

TEST_F(WithWords, EveryVersionOfTheCallsIsFoundAndServed) {
  using Call = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  unsigned value = 0;
  for (const int version : {8000, 11070, 13000}) {
    for (const auto flags :
         {CU_GET_PROC_ADDRESS_LEGACY_STREAM, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM}) {
      void* write = nullptr;
      void* wait = nullptr;
      ASSERT_OK(cuGetProcAddress("cuStreamWriteValue32", &write, version, flags, nullptr));
      ASSERT_OK(cuGetProcAddress("cuStreamWaitValue32", &wait, version, flags, nullptr));
      EXPECT_OK(reinterpret_cast<Call>(write)(nullptr, address(words_), ++value, 0));
      EXPECT_OK(reinterpret_cast<Call>(wait)(nullptr, address(words_), value, CU_STREAM_WAIT_VALUE_EQ));
      EXPECT_OK(cuCtxSynchronize());
      EXPECT_EQ(value, seen(words_[0]).load());
    }
  }
}

}  // namespace
