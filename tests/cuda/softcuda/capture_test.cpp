// Streams captured into graphs: the calls that become nodes, forks and joins, and the calls that invalidate a
// capture.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <thread>

#include "capture_fixture.hpp"

TEST_F(Captures, EveryKindOfCommandBecomesANodeAndNothingRunsMeanwhile) {
  constexpr std::size_t kWidth = 12, kHeight = 5;
  const CUdeviceptr memory = allocate(4096);
  std::vector<unsigned char> sent(kWidth * kHeight);
  std::iota(sent.begin(), sent.end(), static_cast<unsigned char>(1));
  std::vector<unsigned char> received(kWidth * kHeight, 0);
  void* pinned = nullptr;
  ASSERT_OK(cuMemAllocHost(&pinned, 64));
  std::memset(pinned, 0, 64);
  int calls = 0;
  begin(stream_);
  EXPECT_OK(cuMemsetD8Async(memory, 9, 64, stream_));
  EXPECT_OK(cuMemcpyDtoHAsync(pinned, memory, 64, stream_));
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_HOST;
  rows.srcHost = sent.data();
  rows.srcPitch = kWidth;
  rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.dstDevice = memory;
  rows.dstPitch = 32;
  rows.WidthInBytes = kWidth;
  rows.Height = kHeight;
  EXPECT_OK(cuMemcpy2DAsync(&rows, stream_));
  CUDA_MEMCPY2D back{};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = memory;
  back.srcPitch = 32;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = received.data();
  back.dstPitch = kWidth;
  back.WidthInBytes = kWidth;
  back.Height = kHeight;
  EXPECT_OK(cuMemcpy2DAsync(&back, stream_));
  EXPECT_OK(append(stream_, 4));
  EXPECT_OK(cuLaunchHostFunc(
      stream_, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  EXPECT_OK(cuEventRecordWithFlags(event_, stream_, CU_EVENT_RECORD_EXTERNAL));
  EXPECT_OK(cuStreamWaitEvent(stream_, joined_, CU_EVENT_WAIT_EXTERNAL));
  const CUgraph graph = end(stream_);
  EXPECT_EQ((std::vector{CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMCPY,
                         CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_HOST,
                         CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT}),
            types_of(graph));
  EXPECT_EQ(7U, edges_of(graph));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(0, calls);
  EXPECT_EQ(0, *static_cast<unsigned char*>(pinned));
  EXPECT_EQ(4U, number_after(graph));
  EXPECT_EQ(1, calls);
  EXPECT_EQ(9, *static_cast<unsigned char*>(pinned));
  EXPECT_EQ(sent, received);
  EXPECT_OK(cuEventQuery(event_));
  EXPECT_OK(cuMemFreeHost(pinned));
}

TEST_F(Captures, StreamsForkAndJoinByEvents) {
  begin(stream_);
  EXPECT_OK(append(stream_, 1));
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_OK(cuStreamWaitEvent(other_, event_, 0));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  cuuint64_t id_of_other = 1;
  EXPECT_OK(cuStreamGetCaptureInfo(stream_, &status, &id, nullptr, nullptr, nullptr, nullptr));
  EXPECT_OK(cuStreamGetCaptureInfo(other_, &status, &id_of_other, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, status);
  EXPECT_EQ(id, id_of_other);
  EXPECT_OK(append(other_, 2));
  EXPECT_OK(append(other_, 3));
  EXPECT_OK(cuEventRecord(joined_, other_));
  EXPECT_OK(cuStreamWaitEvent(stream_, joined_, 0));
  EXPECT_OK(append(stream_, 4));
  CUgraph graph = end(stream_);
  EXPECT_EQ(4U, types_of(graph).size());
  // The fork came before anything else in the first stream; the join depends on that stream's node, too.
  EXPECT_EQ(4U, edges_of(graph));
  EXPECT_EQ(1234U, number_after(graph));
  EXPECT_OK(cuStreamIsCapturing(other_, &status));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, status);
  // The events stand for places in a graph until they are recorded anew.
  EXPECT_CODE(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event_));
  EXPECT_CODE(CUDA_ERROR_CAPTURED_EVENT, cuEventSynchronize(event_));
  EXPECT_CODE(CUDA_ERROR_CAPTURED_EVENT, cuStreamWaitEvent(stream_, event_, 0));
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_OK(cuEventSynchronize(event_));
}

TEST_F(Captures, AForkThatIsNotJoinedIsAnError) {
  begin(stream_);
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_OK(cuStreamWaitEvent(other_, event_, 0));
  EXPECT_OK(append(other_, 1));
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(stream_, &graph));
  EXPECT_EQ(nullptr, graph);
  EXPECT_OK(append(other_, 5));
  EXPECT_OK(cuStreamSynchronize(other_));
  EXPECT_EQ(5U, download<unsigned>(number_, 1)[0]);
}

// NVIDIA's driver 580 behaves like this.
TEST_F(Captures, EndedInAnotherStreamThanItsOwnItIsLost) {
  begin(stream_);
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_OK(cuStreamWaitEvent(other_, event_, 0));
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(other_, &graph));
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream_, &graph));
  EXPECT_EQ(nullptr, graph);
}

TEST_F(Captures, WaitingForACapturedStreamInvalidatesItsCapture) {
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream_));
  expect_invalidated(stream_);
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(stream_));
  expect_invalidated(stream_);
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize());
  expect_invalidated(stream_);
  begin(stream_);
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_CODE(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event_));
  expect_invalidated(stream_);
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
              cuStreamAddCallback(
                  stream_, [](CUstream, CUresult, void*) {}, nullptr, 0));
  expect_invalidated(stream_);
  // Other streams are as they were.
  begin(stream_);
  EXPECT_OK(append(other_, 3));
  EXPECT_OK(cuStreamSynchronize(other_));
  EXPECT_OK(append(stream_, 4));
  EXPECT_EQ(4U, number_after(end(stream_)));
}

TEST_F(Captures, TheLegacyStreamCannotBeUsedWhileABlockingStreamIsCaptured) {
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
              cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  begin(blocking_);
  CUstreamCaptureStatus status{};
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(nullptr, &status));
  EXPECT_OK(cuStreamIsCapturing(blocking_, &status));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, status) << "asking does no harm";
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, append(nullptr, 1));
  expect_invalidated(blocking_);
  begin(blocking_);
  unsigned value = 0;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemcpyDtoH(&value, number_, 4));
  expect_invalidated(blocking_);
  // A stream that does not wait for the legacy stream does not disturb it.
  begin(stream_);
  EXPECT_OK(append(nullptr, 1));
  EXPECT_OK(cuStreamSynchronize(nullptr));
  EXPECT_OK(append(stream_, 2));
  EXPECT_EQ(2U, number_after(end(stream_)));
}

TEST_F(Captures, DependenciesDoNotCrossItsBounds) {
  EXPECT_OK(cuEventRecord(event_, other_));
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(stream_, event_, 0));
  expect_invalidated(stream_);
  begin(stream_);
  begin(other_);
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(other_, event_, 0));
  expect_invalidated(stream_);
  expect_invalidated(other_);
}

TEST_F(Captures, BeginAndEndBelongTogether) {
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream_, &graph));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamBeginCapture(stream_, static_cast<CUstreamCaptureMode>(3)));
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamEndCapture(stream_, nullptr));  // and it goes on
  std::thread([&] {
    EXPECT_OK(cuCtxSetCurrent(context_));
    EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, cuStreamEndCapture(stream_, &graph));
  }).join();
  EXPECT_EQ(0U, types_of(end(stream_)).size());
  begin(stream_, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_OK(append(stream_, 6));
  std::thread([&] {
    EXPECT_OK(cuCtxSetCurrent(context_));
    EXPECT_OK(cuStreamEndCapture(stream_, &graph));
  }).join();
  EXPECT_EQ(6U, number_after(graph));
}
