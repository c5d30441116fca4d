// Streams and events: order, and its absence. A gate (a host function that waits) holds a stream up, so that
// no test depends on speed.
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "fixture.hpp"
#include "tests/harness/seed.hpp"

/// Streams of both kinds, and memory that is written in them.
class WithStreams : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    ASSERT_OK(cuStreamCreate(&blocking_, CU_STREAM_DEFAULT));
    ASSERT_OK(cuStreamCreate(&other_blocking_, CU_STREAM_DEFAULT));
    ASSERT_OK(cuStreamCreate(&independent_, CU_STREAM_NON_BLOCKING));
    memory_ = allocate(4096);
  }

  CUstream blocking_ = nullptr, other_blocking_ = nullptr, independent_ = nullptr;
  CUdeviceptr memory_ = 0;
};

namespace {

void add_one(void* data) {
  static_cast<std::atomic<int>*>(data)->fetch_add(1);
}

}  // namespace

TEST_F(WithStreams, WorkOfAStreamRunsInOrderAndCallsReturnAtOnce) {
  Gate gate;
  ASSERT_OK(gate.close(blocking_));
  EXPECT_OK(cuMemsetD32Async(memory_, 1, 1024, blocking_));
  EXPECT_OK(cuMemsetD32Async(memory_, 2, 512, blocking_));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(blocking_));
  gate.open();
  EXPECT_OK(cuStreamSynchronize(blocking_));
  EXPECT_OK(cuStreamQuery(blocking_));
  auto expected = std::vector<int>(1024, 1);
  std::fill_n(expected.begin(), 512, 2);
  EXPECT_EQ(expected, download<int>(memory_, 1024));
}

TEST_F(WithStreams, StreamsDoNotWaitForEachOther) {
  Gate gate;
  ASSERT_OK(gate.close(blocking_));
  EXPECT_OK(cuMemsetD8Async(memory_, 5, 64, other_blocking_));
  EXPECT_OK(cuStreamSynchronize(other_blocking_));
  EXPECT_OK(cuMemsetD8Async(memory_, 6, 64, independent_));
  EXPECT_OK(cuStreamSynchronize(independent_));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(blocking_));
}

TEST_F(WithStreams, LegacyStreamWaitsForBlockingStreamsAndHoldsThemUp) {
  Gate gate;
  ASSERT_OK(gate.close(blocking_));
  EXPECT_OK(cuMemsetD8Async(memory_, 1, 64, CU_STREAM_LEGACY));
  EXPECT_OK(cuMemsetD8Async(memory_, 2, 64, other_blocking_));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_LEGACY));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(other_blocking_));
  // The stream that does not block takes no part in it.
  EXPECT_OK(cuMemsetD8Async(memory_ + 64, 3, 64, independent_));
  EXPECT_OK(cuStreamSynchronize(independent_));
  gate.open();
  EXPECT_OK(cuStreamSynchronize(other_blocking_));
  EXPECT_OK(cuStreamQuery(CU_STREAM_LEGACY));
  const auto bytes = download<std::uint8_t>(memory_, 65);
  EXPECT_EQ(2, bytes[63]);
  EXPECT_EQ(3, bytes[64]);
}

TEST_F(WithStreams, LegacyStreamDoesNotWaitForIndependentStreams) {
  Gate gate;
  ASSERT_OK(gate.close(independent_));
  EXPECT_OK(cuMemsetD8(memory_, 9, 64));
  EXPECT_EQ(9, download<std::uint8_t>(memory_, 64).at(63));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(independent_));
}

TEST_F(WithStreams, PerThreadDefaultStreamsAreOnePerThread) {
  Gate gate;
  ASSERT_OK(gate.close(CU_STREAM_PER_THREAD));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_PER_THREAD));
  std::thread([this] {
    ASSERT_OK(cuCtxSetCurrent(context_));
    EXPECT_OK(cuMemsetD8Async(memory_, 4, 64, CU_STREAM_PER_THREAD));
    EXPECT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  }).join();
  // This stream blocks with the legacy stream like any other.
  EXPECT_OK(cuMemsetD8Async(memory_, 5, 64, CU_STREAM_LEGACY));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_LEGACY));
  gate.open();
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuStreamQuery(CU_STREAM_PER_THREAD));
}

TEST_F(WithStreams, EventsOrderStreamsThatAreOtherwiseFree) {
  CUevent event = nullptr;
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_OK(cuEventQuery(event));  // never recorded: done
  EXPECT_OK(cuEventSynchronize(event));
  EXPECT_OK(cuStreamWaitEvent(independent_, event, 0));
  EXPECT_OK(cuStreamSynchronize(independent_));
  Gate gate;
  ASSERT_OK(gate.close(blocking_));
  EXPECT_OK(cuMemsetD8Async(memory_, 1, 64, blocking_));
  EXPECT_OK(cuEventRecord(event, blocking_));
  EXPECT_OK(cuStreamWaitEvent(independent_, event, 0));
  EXPECT_OK(cuMemsetD8Async(memory_, 2, 32, independent_));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(independent_));
  // Recording the event anew later does not change the wait.
  EXPECT_OK(cuEventRecord(event, other_blocking_));
  EXPECT_OK(cuEventSynchronize(event));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(independent_));
  gate.open();
  EXPECT_OK(cuStreamSynchronize(independent_));
  const auto bytes = download<std::uint8_t>(memory_, 64);
  EXPECT_EQ(2, bytes[31]);
  EXPECT_EQ(1, bytes[32]);
}

TEST_F(WithStreams, ElapsedTimeIsOfFinishedTimingEventsOnly) {
  std::array<CUevent, 3> events{};
  ASSERT_OK(cuEventCreate(&events[0], CU_EVENT_DEFAULT));
  ASSERT_OK(cuEventCreate(&events[1], CU_EVENT_BLOCKING_SYNC));
  ASSERT_OK(cuEventCreate(&events[2], CU_EVENT_DISABLE_TIMING));
  float milliseconds = -1;
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, events[0], events[1]));
  EXPECT_OK(cuEventRecord(events[0], blocking_));
  Gate gate;
  ASSERT_OK(gate.close(blocking_));
  EXPECT_OK(cuEventRecord(events[1], blocking_));
  EXPECT_OK(cuEventRecord(events[2], blocking_));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&milliseconds, events[0], events[1]));
  gate.open();
  EXPECT_OK(cuEventSynchronize(events[1]));
  EXPECT_OK(cuEventElapsedTime(&milliseconds, events[0], events[1]));
  EXPECT_GT(milliseconds, 0);
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, events[0], events[2]));
  EXPECT_OK(cuEventDestroy(events[0]));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(events[0]));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&events[0], 0x100));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&events[0], CU_EVENT_INTERPROCESS))
      << "an event of several processes has no time";
}

TEST_F(WithStreams, HostFunctionsRunInTheirTurnAndMayNotCallCuda) {
  std::atomic<int> calls = 0;
  Gate gate;
  ASSERT_OK(gate.close(blocking_));
  EXPECT_OK(cuLaunchHostFunc(blocking_, add_one, &calls));
  EXPECT_EQ(0, calls.load());
  gate.open();
  EXPECT_OK(cuStreamSynchronize(blocking_));
  EXPECT_EQ(1, calls.load());
  struct Seen {
    CUstream stream = nullptr;
    CUresult status = CUDA_ERROR_UNKNOWN;
    CUresult call_inside = CUDA_SUCCESS;
  } seen;
  EXPECT_OK(cuStreamAddCallback(
      other_blocking_,
      [](CUstream stream, CUresult status, void* data) {
        CUdeviceptr memory = 0;
        *static_cast<Seen*>(data) = {stream, status, cuMemAlloc(&memory, 16)};
      },
      &seen, 0));
  EXPECT_OK(cuStreamSynchronize(other_blocking_));
  EXPECT_EQ(other_blocking_, seen.stream);
  EXPECT_CODE(CUDA_SUCCESS, seen.status);
  EXPECT_CODE(CUDA_ERROR_NOT_PERMITTED, seen.call_inside);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(blocking_, nullptr, nullptr));
}

TEST_F(WithStreams, DestroyedStreamFinishesItsWorkFirst) {
  Gate gate;
  ASSERT_OK(gate.close(blocking_));
  EXPECT_OK(cuMemsetD8Async(memory_, 8, 64, blocking_));
  EXPECT_OK(cuStreamDestroy(blocking_));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(blocking_));
  EXPECT_OK(cuMemsetD8Async(memory_ + 32, 9, 32, CU_STREAM_LEGACY));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_LEGACY));  // it still counts
  gate.open();
  EXPECT_OK(cuCtxSynchronize());
  const auto bytes = download<std::uint8_t>(memory_, 64);
  EXPECT_EQ(8, bytes[31]);
  EXPECT_EQ(9, bytes[32]);
}

TEST_F(WithStreams, PropertiesAreTold) {
  int least = 0;
  int greatest = 0;
  ASSERT_OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_LT(greatest, least);
  CUstream urgent = nullptr;
  ASSERT_OK(cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING, greatest - 100));
  int priority = 0;
  EXPECT_OK(cuStreamGetPriority(urgent, &priority));
  EXPECT_EQ(greatest, priority);
  unsigned flags = 0;
  EXPECT_OK(cuStreamGetFlags(urgent, &flags));
  EXPECT_EQ(unsigned{CU_STREAM_NON_BLOCKING}, flags);
  CUcontext owner = nullptr;
  EXPECT_OK(cuStreamGetCtx(urgent, &owner));
  EXPECT_EQ(context_, owner);
  unsigned long long first = 0;
  unsigned long long second = 0;
  EXPECT_OK(cuStreamGetId(urgent, &first));
  EXPECT_OK(cuStreamGetId(blocking_, &second));
  EXPECT_NE(first, second);
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_OK(cuStreamIsCapturing(urgent, &capture));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, capture);
  CUstream none = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&none, 0x40));
}

TEST_F(WithStreams, ManyStreamsThatAreHeldUpLetOthersThrough) {
  std::vector<CUstream> streams(40);
  {
    std::vector<Gate> gates(streams.size());
    for (std::size_t at = 0; at < streams.size(); ++at) {
      ASSERT_OK(cuStreamCreate(&streams[at], CU_STREAM_NON_BLOCKING));
      ASSERT_OK(gates[at].close(streams[at]));
    }
    EXPECT_OK(cuMemsetD8Async(memory_, 1, 64, independent_));
    EXPECT_OK(cuStreamSynchronize(independent_));
    for (const CUstream stream : streams) EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  }
  EXPECT_OK(cuCtxSynchronize());
}

// Short copies and fills are done in three ways: at once, by the device between launches, or by another
// thread behind long ones.
TEST_F(WithModule, RandomCopiesAndFillsAmongLaunchesKeepTheirStreamsOrder) {
  std::mt19937_64 random(fairgv::harness::printed_seed());
  constexpr std::size_t kStreams = 3;
  constexpr std::size_t kSnapshots = 40;
  constexpr std::size_t kLong = 128U << 10U;  // bytes
  struct Lane {
    CUstream stream = nullptr;
    CUdeviceptr number = 0, kept = 0, large = 0;
    unsigned expected = 0, expected_kept = 0;
    unsigned* snapshots = nullptr;
    std::vector<unsigned> expected_snapshots;
  };
  std::array<Lane, kStreams> lanes;
  for (Lane& lane : lanes) {
    ASSERT_OK(cuStreamCreate(&lane.stream, CU_STREAM_NON_BLOCKING));
    for (CUdeviceptr* each : {&lane.number, &lane.kept}) {
      *each = allocate(sizeof(unsigned));
      ASSERT_OK(cuMemsetD32(*each, 0, 1));
    }
    lane.large = allocate(2 * kLong);
    ASSERT_OK(cuMemAllocHost(reinterpret_cast<void**>(&lane.snapshots), kSnapshots * sizeof(unsigned)));
  }
  const auto step = [&](Lane& lane) {
    const auto digit = static_cast<unsigned>(random() % 10);
    switch (random() % 7) {
      case 0:
        ASSERT_OK(cuMemsetD32Async(lane.number, digit, 1, lane.stream));
        lane.expected = digit;
        break;
      case 1:
        ASSERT_OK(cuMemcpyDtoDAsync(lane.kept, lane.number, sizeof(unsigned), lane.stream));
        lane.expected_kept = lane.expected;
        break;
      case 2:
        ASSERT_OK(cuMemcpyDtoDAsync(lane.number, lane.kept, sizeof(unsigned), lane.stream));
        lane.expected = lane.expected_kept;
        break;
      case 3: {
        const std::size_t at = lane.expected_snapshots.size();
        if (at == kSnapshots) break;
        ASSERT_OK(cuMemcpyDtoHAsync(lane.snapshots + at, lane.number, sizeof(unsigned), lane.stream));
        lane.expected_snapshots.push_back(lane.expected);
        break;
      }
      case 4:
        ASSERT_OK(cuMemcpyDtoDAsync(lane.large, lane.large + kLong, kLong, lane.stream));
        break;
      default:
        ASSERT_OK(launch("append", 1, 1, lane.stream, lane.number, digit));
        lane.expected = lane.expected * 10 + digit;
    }
  };
  for (int number = 0; number < 600; ++number) step(lanes.at(random() % kStreams));
  for (Lane& lane : lanes) {
    ASSERT_OK(cuStreamSynchronize(lane.stream));
    EXPECT_EQ(download<unsigned>(lane.number, 1).at(0), lane.expected);
    EXPECT_EQ(std::vector<unsigned>(lane.snapshots, lane.snapshots + lane.expected_snapshots.size()),
              lane.expected_snapshots);
    EXPECT_OK(cuMemFreeHost(lane.snapshots));
    EXPECT_OK(cuStreamDestroy(lane.stream));
  }
}
