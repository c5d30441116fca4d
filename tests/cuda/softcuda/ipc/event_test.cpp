// Events that two processes share (CUDA Driver API: CU_EVENT_INTERPROCESS, cuIpcGetEventHandle).
#include <future>
#include <string>

#include "peer.hpp"

namespace {

constexpr unsigned kShared = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;

class SoftCudaIpcEvent : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    ASSERT_OK(cuEventCreate(&event_, kShared));
    ASSERT_OK(cuIpcGetEventHandle(&handle_, event_));
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }

  CUevent event_ = nullptr;
  CUipcEventHandle handle_{};
  CUstream stream_ = nullptr;
};

TEST_F(SoftCudaIpcEvent, AStreamWaitsForTheRecordOfAnotherProcess) {
  Peer peer;
  EXPECT_DONE(peer.ask("open-event " + text_of(handle_)));
  EXPECT_OK(cuEventQuery(event_)) << "it was never recorded";
  EXPECT_DONE(peer.ask("hold"));
  EXPECT_DONE(peer.ask("record"));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuEventQuery(event_));
  const CUdeviceptr memory = allocate(4);
  EXPECT_OK(cuMemsetD32(memory, 1, 1));
  EXPECT_OK(cuStreamWaitEvent(stream_, event_, 0));
  EXPECT_OK(cuMemsetD32Async(memory, 2, 1, stream_));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
  EXPECT_DONE(peer.ask("let-go"));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_OK(cuEventQuery(event_));
  EXPECT_EQ(2U, download<unsigned>(memory, 1)[0]);
}

TEST_F(SoftCudaIpcEvent, AnotherProcessWaitsForARecordOfThisOne) {
  Peer peer;
  EXPECT_DONE(peer.ask("open-event " + text_of(handle_)));
  Gate gate;
  EXPECT_OK(gate.close(stream_));
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, peer.ask("query-event").code);
  EXPECT_DONE(peer.ask("wait"));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, peer.ask("query").code);
  gate.open();
  EXPECT_DONE(peer.ask("synchronize"));
  EXPECT_DONE(peer.ask("query-event"));
  EXPECT_OK(cuEventSynchronize(event_));
}

TEST_F(SoftCudaIpcEvent, EachMayRecordIt) {
  Peer peer;
  EXPECT_DONE(peer.ask("open-event " + text_of(handle_)));
  for (int time = 0; time < 200; ++time) {  // more than the page has words
    EXPECT_DONE(peer.ask("record"));
    EXPECT_OK(cuStreamWaitEvent(stream_, event_, 0));
    EXPECT_OK(cuEventRecord(event_, stream_));
    EXPECT_DONE(peer.ask("wait"));
  }
  EXPECT_DONE(peer.ask("synchronize"));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_OK(cuEventQuery(event_));
}

TEST_F(SoftCudaIpcEvent, SynchronisingWaitsForAnotherProcess) {
  Peer peer;
  EXPECT_DONE(peer.ask("open-event " + text_of(handle_)));
  EXPECT_DONE(peer.ask("hold"));
  EXPECT_DONE(peer.ask("record"));
  auto waiting = std::async(std::launch::async, [this] {
    EXPECT_OK(cuCtxSetCurrent(context_));
    return cuEventSynchronize(event_);
  });
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuEventQuery(event_));
  EXPECT_DONE(peer.ask("let-go"));
  EXPECT_OK(waiting.get());
}

TEST_F(SoftCudaIpcEvent, TheDeathOfItsRecorderEndsTheWaits) {
  for (const bool is_makers : {false, true}) {
    Peer peer;
    CUevent event = event_;
    if (is_makers) {
      const auto made = handle_of<CUipcEventHandle>(peer.ask("event").text);
      ASSERT_OK(cuIpcOpenEventHandle(&event, made));
    } else {
      EXPECT_DONE(peer.ask("open-event " + text_of(handle_)));
    }
    EXPECT_DONE(peer.ask("hold"));
    EXPECT_DONE(peer.ask("record"));
    EXPECT_OK(cuStreamWaitEvent(stream_, event, 0));
    EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream_));
    EXPECT_EQ(SIGKILL, WTERMSIG(peer.end(SIGKILL)));
    EXPECT_OK(cuStreamSynchronize(stream_));
    EXPECT_OK(cuEventSynchronize(event));
    EXPECT_OK(cuEventRecord(event, stream_));
    EXPECT_OK(cuEventSynchronize(event));
  }
}

TEST_F(SoftCudaIpcEvent, ItLivesUntilTheLastHasDestroyedIt) {
  Peer peer;
  EXPECT_DONE(peer.ask("open-event " + text_of(handle_)));
  EXPECT_OK(cuEventDestroy(event_));
  EXPECT_DONE(peer.ask("record"));
  EXPECT_DONE(peer.ask("wait"));
  EXPECT_DONE(peer.ask("synchronize"));
  EXPECT_DONE(peer.ask("destroy"));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, peer.ask("open-event " + text_of(handle_)).code);
}

TEST_F(SoftCudaIpcEvent, AContextEndsThoughItsStreamWaitsForAnotherProcess) {
  Peer peer;
  EXPECT_DONE(peer.ask("open-event " + text_of(handle_)));
  EXPECT_DONE(peer.ask("hold"));
  EXPECT_DONE(peer.ask("record"));
  EXPECT_OK(cuStreamWaitEvent(stream_, event_, 0));
  EXPECT_OK(cuCtxDestroy(context_));
  context_ = nullptr;
  EXPECT_DONE(peer.ask("let-go"));
  EXPECT_DONE(peer.ask("synchronize"));
}

TEST_F(SoftCudaIpcEvent, WrongHandlesAndFlagsAreRefused) {
  int supported = 0;
  EXPECT_OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, device_));
  EXPECT_EQ(1, supported);
  CUevent plain = nullptr;
  CUipcEventHandle handle{};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&plain, CU_EVENT_INTERPROCESS));
  ASSERT_OK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&handle, plain));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&handle, nullptr));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuIpcGetEventHandle(nullptr, event_));
  CUevent opened = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenEventHandle(&opened, handle_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuIpcOpenEventHandle(nullptr, handle_));
  Peer peer;
  const auto others = handle_of<CUipcEventHandle>(peer.ask("event").text);
  for (std::size_t at = 0; at < 40; ++at) {
    CUipcEventHandle forged = others;
    forged.reserved[at] = static_cast<char>(forged.reserved[at] ^ 1);
    EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuIpcOpenEventHandle(&opened, forged)) << at;
  }
  EXPECT_DONE(peer.ask("allocate 64"));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE,
              cuIpcOpenEventHandle(&opened, handle_of<CUipcEventHandle>(peer.ask("export").text)));
  ASSERT_OK(cuIpcOpenEventHandle(&opened, others));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&handle, opened)) << "only its maker exports it";
  float time = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&time, opened, opened));
}

}  // namespace
