// Memory operations in streams beside all else: the order of streams, events, captures, and contexts and
// streams that end before a wait is over.
#include <atomic>

#include "tests/cuda/softcuda/stream/word_fixture.hpp"

namespace {

/// A stream that waits for the first word.
class WordLife : public WithWords {
 protected:
  CUresult wait(CUstream stream) {
    return cuStreamWaitValue64(stream, address(words_), 1, CU_STREAM_WAIT_VALUE_EQ);
  }
  void go() { seen(words_[0]).store(1); }
};

TEST_F(WordLife, WorkOfEveryKindWaitsBehindIt) {
  std::atomic<int> calls = 0;
  const CUdeviceptr memory = allocate(64);
  EXPECT_OK(cuMemsetD32(memory, 1, 1));
  EXPECT_OK(wait(stream_));
  EXPECT_OK(launch("append", 1, 1, stream_, memory, 2U));
  EXPECT_OK(cuLaunchHostFunc(
      stream_, [](void* count) { static_cast<std::atomic<int>*>(count)->fetch_add(1); }, &calls));
  EXPECT_OK(cuMemcpyDtoHAsync(words_ + 1, memory, 4, stream_));
  EXPECT_OK(wait(stream_));
  mark(stream_, words_[2]);
  others_go_on();
  EXPECT_EQ(0, calls.load());
  EXPECT_EQ(0U, seen(words_[1]).load());
  EXPECT_EQ(1U, download<unsigned>(memory, 1)[0]) << "the legacy stream goes on";
  go();
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(1, calls.load());
  EXPECT_EQ(12U, seen(words_[1]).load());
  EXPECT_EQ(1U, seen(words_[2]).load());
}

TEST_F(WordLife, StreamsThatWaitForItsStreamWaitForIt) {
  CUstream blocking = nullptr;
  CUevent event = nullptr;
  ASSERT_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_OK(wait(blocking));
  EXPECT_OK(cuEventRecord(event, blocking));
  EXPECT_OK(cuStreamWaitEvent(stream_, event, 0));
  mark(stream_, words_[1]);
  mark(CU_STREAM_LEGACY, words_[2]);
  others_go_on();
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  EXPECT_EQ(0U, seen(words_[1]).load());
  EXPECT_EQ(0U, seen(words_[2]).load());
  go();
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_OK(cuStreamSynchronize(CU_STREAM_LEGACY));
  EXPECT_OK(cuEventQuery(event));
  EXPECT_EQ(1U, seen(words_[1]).load());
  EXPECT_EQ(1U, seen(words_[2]).load());
}

TEST_F(WordLife, AWaitHasItsTurnWhenTheWorkBeforeItHasEnded) {
  Gate gate;
  ASSERT_OK(gate.close(stream_));
  go();
  EXPECT_OK(wait(stream_));
  mark(stream_, words_[1]);
  others_go_on();
  EXPECT_EQ(0U, seen(words_[1]).load());
  seen(words_[0]).store(0);  // what was there before does not count
  gate.open();
  others_go_on();
  EXPECT_EQ(0U, seen(words_[1]).load());
  go();
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(1U, seen(words_[1]).load());
}

TEST_F(WordLife, ThousandsOfWaitsAreOverAtOnce) {
  constexpr int kWaits = 20'000;
  EXPECT_OK(wait(stream_));
  for (int time = 0; time < kWaits; ++time) ASSERT_OK(wait(stream_));
  mark(stream_, words_[1]);
  others_go_on();
  EXPECT_EQ(0U, seen(words_[1]).load());
  go();
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(1U, seen(words_[1]).load());
}

TEST_F(WordLife, ADestroyedStreamStillWaits) {
  EXPECT_OK(wait(stream_));
  mark(stream_, words_[1]);
  EXPECT_OK(cuStreamDestroy(stream_));
  others_go_on();
  EXPECT_EQ(0U, seen(words_[1]).load());
  go();
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(1U, seen(words_[1]).load());
}

TEST_F(WordLife, AGraphCannotHoldThem) {
  const auto refused = [&](const auto& operate) {
    ASSERT_OK(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, operate());
    CUgraph graph = nullptr;
    EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream_, &graph));
  };
  refused([&] { return wait(stream_); });
  refused([&] { return cuStreamWriteValue64(stream_, address(words_ + 1), 1, 0); });
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(0U, seen(words_[1]).load());
}

/// Words of another context than that which ends, so that they can be looked at afterwards.
TEST_F(WordLife, AContextEndsWithWaitsThatAreNotOver) {
  struct Ending {
    CUcontext context = nullptr;
    CUstream stream = nullptr, gone = nullptr;
  } ending;
  std::atomic<int> calls = 0;
  const auto call = [](void* count) { static_cast<std::atomic<int>*>(count)->fetch_add(1); };
  ASSERT_OK(cuCtxCreate(&ending.context, nullptr, 0, device_));
  ASSERT_OK(cuStreamCreate(&ending.stream, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuStreamCreate(&ending.gone, CU_STREAM_DEFAULT));
  CUdeviceptr word = 0;
  ASSERT_OK(cuMemAlloc(&word, 8));
  ASSERT_OK(cuMemsetD32(word, 0, 2));
  for (CUstream stream : {ending.stream, ending.gone, CUstream{}}) {
    EXPECT_OK(wait(stream));
    EXPECT_OK(cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_OK(cuLaunchHostFunc(stream, call, &calls));
    EXPECT_OK(cuStreamWriteValue64(stream, address(words_ + 1), 1, 0));
  }
  EXPECT_OK(cuStreamDestroy(ending.gone));
  EXPECT_OK(cuCtxDestroy(ending.context));
  EXPECT_EQ(0, calls.load()) << "what is behind a wait that was given up is not run";
  EXPECT_EQ(0U, seen(words_[1]).load());
  // The other context goes on.
  EXPECT_OK(wait(stream_));
  others_go_on();
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  go();
  EXPECT_OK(cuStreamSynchronize(stream_));
}

TEST_F(WordLife, ThePrimaryContextBeginsAnewAfterOne) {
  CUcontext primary = nullptr;
  for (int time = 0; time < 2; ++time) {
    ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, device_));
    ASSERT_OK(cuCtxPushCurrent(primary));
    CUdeviceptr word = 0;
    ASSERT_OK(cuMemAlloc(&word, 4));
    EXPECT_OK(cuStreamWriteValue32(nullptr, word, 1, 0));
    EXPECT_OK(cuStreamWaitValue32(nullptr, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_OK(cuStreamSynchronize(nullptr));
    EXPECT_OK(cuStreamWaitValue32(nullptr, word, 2, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_OK(cuDevicePrimaryCtxReset(device_));
    EXPECT_OK(cuCtxPopCurrent(&primary));
    EXPECT_OK(cuDevicePrimaryCtxRelease(device_));
  }
}

}  // namespace
