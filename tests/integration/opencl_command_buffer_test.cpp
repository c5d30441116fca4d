// Command buffers (cl_khr_command_buffer): recording, replaying, states, and the errors of each.
#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/integration/opencl_fixture.hpp"

#include <CL/cl_ext.h>  // after the fixture, which says which OpenCL is meant

namespace fairgv::test {
namespace {

constexpr const char* kSource = R"(
  kernel void add(global int* out, int value) { out[get_global_id(0)] += value; }
  kernel void multiply(global int* out, int factor) { out[get_global_id(0)] *= factor; }
)";
constexpr std::size_t kCount = 64;
constexpr std::size_t kBytes = kCount * sizeof(cl_int);

class CommandBuffers : public OpenCL {
 protected:
  void SetUp() override {
    OpenCL::SetUp();
    if (!device_has("cl_khr_command_buffer")) GTEST_SKIP() << "the device has no command buffers";
    find("clCreateCommandBufferKHR", create);
    find("clRetainCommandBufferKHR", retain);
    find("clReleaseCommandBufferKHR", release);
    find("clFinalizeCommandBufferKHR", finalize);
    find("clEnqueueCommandBufferKHR", enqueue);
    find("clGetCommandBufferInfoKHR", info);
    find("clCommandBarrierWithWaitListKHR", record_barrier);
    find("clCommandCopyBufferKHR", record_copy);
    find("clCommandCopyBufferRectKHR", record_rect);
    find("clCommandCopyBufferToImageKHR", record_buffer_to_image);
    find("clCommandCopyImageKHR", record_image);
    find("clCommandCopyImageToBufferKHR", record_image_to_buffer);
    find("clCommandFillBufferKHR", record_fill);
    find("clCommandFillImageKHR", record_fill_image);
    find("clCommandNDRangeKernelKHR", record_kernel);
    program = build(kSource);
    add = make_kernel(program, "add");
    memory = make_buffer(kBytes);
    fill(memory, 0);
  }
  void TearDown() override {
    for (cl_command_buffer_khr buffer : made) EXPECT_EQ(CL_SUCCESS, release(buffer));
  }

  template <class Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(clGetExtensionFunctionAddressForPlatform(platform, name));
    ASSERT_NE(nullptr, function) << name;
  }

  cl_command_buffer_khr make(cl_command_queue on, cl_command_buffer_flags_khr flags = 0) {
    const cl_command_buffer_properties_khr properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0};
    cl_int error = 1;
    cl_command_buffer_khr buffer = create(1, &on, flags != 0 ? properties : nullptr, &error);
    EXPECT_EQ(CL_SUCCESS, error);
    if (buffer != nullptr) made.push_back(buffer);
    return buffer;
  }
  cl_int recorded_fill(cl_command_buffer_khr buffer, cl_mem where, cl_int value,
                       const std::vector<cl_sync_point_khr>& waits = {}, cl_sync_point_khr* own = nullptr) {
    return record_fill(buffer, nullptr, where, &value, sizeof(value), 0, kBytes,
                       static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(), own,
                       nullptr);
  }
  cl_int recorded_add(cl_command_buffer_khr buffer, cl_mem where, cl_int value,
                      const std::vector<cl_sync_point_khr>& waits = {}, cl_sync_point_khr* own = nullptr) {
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(add, 0, sizeof(where), &where));
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(add, 1, sizeof(value), &value));
    return record_kernel(buffer, nullptr, nullptr, add, 1, nullptr, &kCount, nullptr,
                         static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(), own,
                         nullptr);
  }
  /// A finished buffer that adds `value` to `memory`.
  cl_command_buffer_khr adder(cl_int value, cl_command_buffer_flags_khr flags = 0) {
    cl_command_buffer_khr buffer = make(queue, flags);
    EXPECT_EQ(CL_SUCCESS, recorded_add(buffer, memory, value));
    EXPECT_EQ(CL_SUCCESS, finalize(buffer));
    return buffer;
  }
  cl_int run(cl_command_buffer_khr buffer, const std::vector<cl_event>& waits = {},
             cl_event* event = nullptr) {
    return enqueue(0, nullptr, buffer, static_cast<cl_uint>(waits.size()),
                   waits.empty() ? nullptr : waits.data(), event);
  }
  cl_command_buffer_state_khr state(cl_command_buffer_khr buffer) {
    cl_command_buffer_state_khr value = 99;
    EXPECT_EQ(CL_SUCCESS, info(buffer, CL_COMMAND_BUFFER_STATE_KHR, sizeof(value), &value, nullptr));
    return value;
  }
  /// Waits for a run. PoCL 3.1 itself takes the buffer out of "pending" a moment after the event has ended.
  cl_int wait(cl_command_buffer_khr buffer, EventHandle& done) {
    const cl_int result = clWaitForEvents(1, done.address());
    while (is_bare_pocl() && state(buffer) == CL_COMMAND_BUFFER_STATE_PENDING_KHR) std::this_thread::yield();
    return result;
  }
  void fill(cl_mem where, cl_int value) {
    EXPECT_EQ(CL_SUCCESS,
              clEnqueueFillBuffer(queue, where, &value, sizeof(value), 0, kBytes, 0, nullptr, nullptr));
    EXPECT_EQ(CL_SUCCESS, clFinish(queue));
  }
  std::vector<cl_int> values(cl_mem from) const {
    const Bytes bytes = read(from, kBytes);
    std::vector<cl_int> result(kCount);
    std::memcpy(result.data(), bytes.data(), kBytes);
    return result;
  }
  static std::vector<cl_int> all(cl_int value) { return std::vector<cl_int>(kCount, value); }

  clCreateCommandBufferKHR_fn create = nullptr;
  clRetainCommandBufferKHR_fn retain = nullptr;
  clReleaseCommandBufferKHR_fn release = nullptr;
  clFinalizeCommandBufferKHR_fn finalize = nullptr;
  clEnqueueCommandBufferKHR_fn enqueue = nullptr;
  clGetCommandBufferInfoKHR_fn info = nullptr;
  clCommandBarrierWithWaitListKHR_fn record_barrier = nullptr;
  clCommandCopyBufferKHR_fn record_copy = nullptr;
  clCommandCopyBufferRectKHR_fn record_rect = nullptr;
  clCommandCopyBufferToImageKHR_fn record_buffer_to_image = nullptr;
  clCommandCopyImageKHR_fn record_image = nullptr;
  clCommandCopyImageToBufferKHR_fn record_image_to_buffer = nullptr;
  clCommandFillBufferKHR_fn record_fill = nullptr;
  clCommandFillImageKHR_fn record_fill_image = nullptr;
  clCommandNDRangeKernelKHR_fn record_kernel = nullptr;

  ProgramHandle program;
  KernelHandle add;
  Buffer memory;
  std::vector<cl_command_buffer_khr> made;
};

// ---- recording and replaying

TEST_F(CommandBuffers, RunWhatWasRecordedAsOftenAsAsked) {
  cl_command_buffer_khr buffer = adder(3);
  for (int i = 0; i < 20; ++i) {
    EventHandle done;
    ASSERT_EQ(CL_SUCCESS, run(buffer, {}, done.out()));
    ASSERT_EQ(CL_SUCCESS, wait(buffer, done));
  }
  EXPECT_EQ(all(60), values(memory));
}

TEST_F(CommandBuffers, OrderCommandsBySyncPoints) {
  const QueueHandle unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Buffer copy = make_buffer(kBytes);
  cl_command_buffer_khr buffer = make(unordered);
  cl_sync_point_khr point[5] = {};
  ASSERT_EQ(CL_SUCCESS, recorded_fill(buffer, memory, 7, {}, &point[0]));
  ASSERT_EQ(CL_SUCCESS,
            record_copy(buffer, nullptr, memory, copy, 0, 0, kBytes, 1, &point[0], &point[1], nullptr));
  ASSERT_EQ(CL_SUCCESS, recorded_fill(buffer, memory, 9, {point[1]}, &point[2]));
  ASSERT_EQ(CL_SUCCESS, record_barrier(buffer, nullptr, 2, &point[1], &point[3], nullptr));
  ASSERT_EQ(CL_SUCCESS, recorded_add(buffer, copy, 1, {point[3]}, &point[4]));
  ASSERT_EQ(CL_SUCCESS, finalize(buffer));
  for (int i = 0; i < 3; ++i) {
    EventHandle done;
    ASSERT_EQ(CL_SUCCESS, run(buffer, {}, done.out()));
    ASSERT_EQ(CL_SUCCESS, wait(buffer, done));
    EXPECT_EQ(all(9), values(memory));
    EXPECT_EQ(all(8), values(copy));
  }
  std::vector<cl_sync_point_khr> points(point, point + 5);
  std::sort(points.begin(), points.end());
  EXPECT_EQ(points.end(), std::adjacent_find(points.begin(), points.end())) << "each has its own";
}

TEST_F(CommandBuffers, CopyRectangles) {
  const Bytes contents = random_bytes(64);
  const Buffer from = make_buffer(contents);
  const Buffer to = make_buffer(Bytes(64, 0));
  const std::size_t source[3] = {1, 2, 0};
  const std::size_t destination[3] = {3, 1, 0};
  const std::size_t region[3] = {4, 3, 1};
  cl_command_buffer_khr buffer = make(queue);
  ASSERT_EQ(CL_SUCCESS, record_rect(buffer, nullptr, from, to, source, destination, region, 8, 0, 16, 0, 0,
                                    nullptr, nullptr, nullptr));
  ASSERT_EQ(CL_SUCCESS, finalize(buffer));
  ASSERT_EQ(CL_SUCCESS, run(buffer));
  Bytes expected(64, 0);
  for (std::size_t y = 0; y < 3; ++y) {
    for (std::size_t x = 0; x < 4; ++x) expected[(y + 1) * 16 + x + 3] = contents[(y + 2) * 8 + x + 1];
  }
  EXPECT_EQ(expected, read(to, 64));
}

TEST_F(CommandBuffers, KeepTheArgumentsOfTheMomentOfRecording) {
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1 reads the kernel's arguments when the buffer is replayed";
  const Buffer other = make_buffer(kBytes);
  fill(other, 0);
  cl_command_buffer_khr buffer = make(queue);
  ASSERT_EQ(CL_SUCCESS, recorded_add(buffer, memory, 1));
  ASSERT_EQ(CL_SUCCESS, recorded_add(buffer, memory, 10));
  ASSERT_EQ(CL_SUCCESS, recorded_add(buffer, other, 100));
  ASSERT_EQ(CL_SUCCESS, finalize(buffer));
  const cl_int later = 1000;
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(add, 1, sizeof(later), &later));
  ASSERT_EQ(CL_SUCCESS, run(buffer));
  EXPECT_EQ(all(11), values(memory));
  EXPECT_EQ(all(100), values(other));
  // Nor does recording change what a launch of the kernel does.
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueNDRangeKernel(queue, add, 1, nullptr, &kCount, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(all(1100), values(other));
}

TEST_F(CommandBuffers, OutliveTheObjectsTheyUse) {
  cl_command_buffer_khr buffer = make(queue);
  const Buffer result = make_buffer(kBytes);
  {
    const ProgramHandle own = build(kSource);
    const KernelHandle multiply = make_kernel(own, "multiply");
    const Buffer scratch = make_buffer(kBytes);
    const cl_int factor = 6;
    ASSERT_EQ(CL_SUCCESS, recorded_fill(buffer, scratch, 7));
    ASSERT_EQ(CL_SUCCESS,
              clSetKernelArg(multiply, 0, sizeof(cl_mem), const_cast<Buffer&>(scratch).address()));
    ASSERT_EQ(CL_SUCCESS, clSetKernelArg(multiply, 1, sizeof(factor), &factor));
    ASSERT_EQ(CL_SUCCESS, record_kernel(buffer, nullptr, nullptr, multiply, 1, nullptr, &kCount, nullptr, 0,
                                        nullptr, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS,
              record_copy(buffer, nullptr, scratch, result, 0, 0, kBytes, 0, nullptr, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS, finalize(buffer));
  }
  ASSERT_EQ(CL_SUCCESS, run(buffer));
  EXPECT_EQ(all(42), values(result));
}

TEST_F(CommandBuffers, MayBeReleasedWhileTheyRun) {
  const EventHandle gate = make_user_event();
  cl_command_buffer_khr buffer = adder(5);
  made.clear();
  EventHandle done;
  ASSERT_EQ(CL_SUCCESS, run(buffer, {gate}, done.out()));
  ASSERT_EQ(CL_SUCCESS, release(buffer));
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, done.address()));
  EXPECT_EQ(all(5), values(memory));
}

TEST_F(CommandBuffers, TakeTheirPlaceAmongTheCommandsOfTheQueue) {
  cl_command_buffer_khr buffer = adder(1, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  const KernelHandle multiply = make_kernel(program, "multiply");
  const cl_int factor = 2;
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(multiply, 0, sizeof(cl_mem), memory.address()));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(multiply, 1, sizeof(factor), &factor));
  cl_int expected = 0;
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(CL_SUCCESS, run(buffer));
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueNDRangeKernel(queue, multiply, 1, nullptr, &kCount, nullptr, 0, nullptr, nullptr));
    expected = (expected + 1) * 2;
  }
  EXPECT_EQ(all(expected), values(memory));
}

TEST_F(CommandBuffers, RunOnAnotherQueueOfTheSameKind) {
  cl_command_buffer_khr buffer = adder(2);
  const QueueHandle same = make_queue(CL_QUEUE_PROFILING_ENABLE);
  cl_command_queue handle = same;
  ASSERT_EQ(CL_SUCCESS, enqueue(1, &handle, buffer, 0, nullptr, nullptr));
  ASSERT_EQ(CL_SUCCESS, clFinish(same));
  EXPECT_EQ(all(2), values(memory));
  const QueueHandle different = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  handle = different;
  EXPECT_EQ(CL_INCOMPATIBLE_COMMAND_QUEUE_KHR, enqueue(1, &handle, buffer, 0, nullptr, nullptr));
}

// ---- events

TEST_F(CommandBuffers, WaitForTheirWaitListAndTellWhenTheyHaveEnded) {
  const EventHandle gate = make_user_event();
  cl_command_buffer_khr buffer = adder(4);
  EventHandle done;
  ASSERT_EQ(CL_SUCCESS, run(buffer, {gate}, done.out()));
  EXPECT_GT(status_of(done), CL_COMPLETE);
  EXPECT_EQ(cl_command_type{CL_COMMAND_COMMAND_BUFFER_KHR},
            event_info<cl_command_type>(done, CL_EVENT_COMMAND_TYPE));
  EXPECT_EQ(queue.get(), event_info<cl_command_queue>(done, CL_EVENT_COMMAND_QUEUE));
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, done.address()));
  EXPECT_EQ(CL_COMPLETE, status_of(done));
  EXPECT_EQ(all(4), values(memory));
}

TEST_F(CommandBuffers, DoNotRunWhenTheirWaitListFailed) {
  const EventHandle gate = make_user_event();
  cl_command_buffer_khr buffer = adder(4);
  EventHandle done;
  ASSERT_EQ(CL_SUCCESS, run(buffer, {gate}, done.out()));
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, -5));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, done.address()));
  EXPECT_LT(status_of(done), CL_COMPLETE);
  EXPECT_EQ(all(0), values(memory));
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1 leaves the buffer pending for ever";
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR}, state(buffer));
}

TEST_F(CommandBuffers, WithoutCommandsOnlyWait) {
  const EventHandle gate = make_user_event();
  cl_command_buffer_khr buffer = make(queue);
  ASSERT_EQ(CL_SUCCESS, finalize(buffer));
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1 does not wait";
  EventHandle done;
  ASSERT_EQ(CL_SUCCESS, run(buffer, {gate}, done.out()));
  EXPECT_GT(status_of(done), CL_COMPLETE);
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  EXPECT_EQ(CL_SUCCESS, clWaitForEvents(1, done.address()));
}

// ---- states and queries

TEST_F(CommandBuffers, GoFromRecordingToExecutableToPendingAndBack) {
  const EventHandle gate = make_user_event();
  cl_command_buffer_khr buffer = make(queue);
  ASSERT_EQ(CL_SUCCESS, recorded_add(buffer, memory, 1));
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_RECORDING_KHR}, state(buffer));
  EXPECT_EQ(CL_INVALID_OPERATION, run(buffer));
  ASSERT_EQ(CL_SUCCESS, finalize(buffer));
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR}, state(buffer));
  EXPECT_EQ(CL_INVALID_OPERATION, recorded_fill(buffer, memory, 1));
  EventHandle done;
  ASSERT_EQ(CL_SUCCESS, run(buffer, {gate}, done.out()));
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_PENDING_KHR}, state(buffer));
  EXPECT_EQ(CL_INVALID_OPERATION, run(buffer)) << "not made for simultaneous use";
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, wait(buffer, done));
  EXPECT_EQ(CL_SUCCESS, run(buffer));
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(all(2), values(memory));
}

TEST_F(CommandBuffers, ForSimultaneousUseMayBePendingManyTimes) {
  const auto capabilities = device_info<cl_device_command_buffer_capabilities_khr>(
      device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR);
  if ((capabilities & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) == 0) GTEST_SKIP();
  const EventHandle gate = make_user_event();
  cl_command_buffer_khr buffer = adder(1, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(CL_SUCCESS, run(buffer, {gate}));
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_PENDING_KHR}, state(buffer));
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(all(100), values(memory));
}

TEST_F(CommandBuffers, SayWhatTheyWereMadeOf) {
  cl_command_buffer_khr buffer = make(queue, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  cl_uint count = 0;
  EXPECT_EQ(CL_SUCCESS, info(buffer, CL_COMMAND_BUFFER_NUM_QUEUES_KHR, sizeof(count), &count, nullptr));
  EXPECT_EQ(1U, count);
  EXPECT_EQ(CL_SUCCESS, retain(buffer));
  EXPECT_EQ(CL_SUCCESS, info(buffer, CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR, sizeof(count), &count, nullptr));
  EXPECT_EQ(2U, count);
  EXPECT_EQ(CL_SUCCESS, release(buffer));
  std::size_t size = 0;
  EXPECT_EQ(CL_SUCCESS, info(buffer, CL_COMMAND_BUFFER_QUEUES_KHR, 0, nullptr, &size));
  EXPECT_EQ(sizeof(cl_command_queue), size);
  EXPECT_EQ(CL_INVALID_VALUE, info(buffer, 0x4321, 0, nullptr, &size));
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1 answers the other queries with its own addresses";
  cl_command_queue on = nullptr;
  EXPECT_EQ(CL_SUCCESS, info(buffer, CL_COMMAND_BUFFER_QUEUES_KHR, sizeof(on), &on, nullptr));
  EXPECT_EQ(queue.get(), on);
  cl_command_buffer_properties_khr properties[4] = {};
  EXPECT_EQ(CL_SUCCESS,
            info(buffer, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR, sizeof(properties), properties, &size));
  EXPECT_EQ(3 * sizeof(properties[0]), size);
  EXPECT_EQ(cl_command_buffer_properties_khr{CL_COMMAND_BUFFER_FLAGS_KHR}, properties[0]);
  EXPECT_EQ(cl_command_buffer_properties_khr{CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR}, properties[1]);
  EXPECT_EQ(CL_INVALID_VALUE, info(buffer, CL_COMMAND_BUFFER_STATE_KHR, 1, &count, nullptr));
}

// ---- errors

TEST_F(CommandBuffers, AreNotMadeFromNonsense) {
  cl_command_queue handles[] = {queue, queue};
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, create(0, nullptr, nullptr, &error));
  EXPECT_EQ(CL_INVALID_VALUE, error);
  EXPECT_EQ(nullptr, create(2, handles, nullptr, &error));
  EXPECT_EQ(CL_INVALID_VALUE, error);
  const cl_command_buffer_properties_khr unknown[] = {0x7777, 0, 0};
  EXPECT_EQ(nullptr, create(1, handles, unknown, &error));
  EXPECT_EQ(CL_INVALID_VALUE, error);
  const cl_command_buffer_properties_khr unknown_flag[] = {CL_COMMAND_BUFFER_FLAGS_KHR, 1 << 9, 0};
  EXPECT_EQ(nullptr, create(1, handles, unknown_flag, &error));
  EXPECT_EQ(CL_INVALID_VALUE, error);
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1 does not look for duplicates";
  const cl_command_buffer_properties_khr twice[] = {CL_COMMAND_BUFFER_FLAGS_KHR, 0,
                                                    CL_COMMAND_BUFFER_FLAGS_KHR, 0, 0};
  EXPECT_EQ(nullptr, create(1, handles, twice, &error));
  EXPECT_EQ(CL_INVALID_VALUE, error);
}

TEST_F(CommandBuffers, RefuseNullEverywhere) {
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, retain(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, release(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, finalize(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, run(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, info(nullptr, CL_COMMAND_BUFFER_STATE_KHR, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, recorded_fill(nullptr, memory, 1));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, record_barrier(nullptr, nullptr, 0, nullptr, nullptr, nullptr));
}

TEST_F(CommandBuffers, AreRecordedWithoutQueuesAndMutableHandles) {
  cl_command_buffer_khr buffer = make(queue);
  cl_mutable_command_khr handle = nullptr;
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, record_barrier(buffer, queue, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, record_barrier(buffer, nullptr, 0, nullptr, nullptr, &handle));
}

TEST_F(CommandBuffers, RefuseSyncPointsTheyDoNotKnow) {
  cl_command_buffer_khr buffer = make(queue);
  cl_sync_point_khr point = 0;
  ASSERT_EQ(CL_SUCCESS, recorded_fill(buffer, memory, 1, {}, &point));
  EXPECT_EQ(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, recorded_fill(buffer, memory, 1, {0}));
  EXPECT_EQ(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, recorded_fill(buffer, memory, 1, {point + 1}));
  EXPECT_EQ(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
            record_barrier(buffer, nullptr, 1, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
            record_barrier(buffer, nullptr, 0, &point, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, recorded_fill(buffer, memory, 1, {point}));
}

TEST_F(CommandBuffers, CheckTheArgumentsOfWhatIsRecorded) {
  cl_command_buffer_khr buffer = make(queue);
  const cl_int value = 0;
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, recorded_fill(buffer, nullptr, 1));
  EXPECT_EQ(CL_INVALID_VALUE, record_fill(buffer, nullptr, memory, &value, sizeof(value), 0, 2 * kBytes, 0,
                                          nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE,
            record_fill(buffer, nullptr, memory, &value, 3, 0, 9, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            record_copy(buffer, nullptr, memory, nullptr, 0, 0, 4, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE,
            record_copy(buffer, nullptr, memory, memory, 0, kBytes, 4, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP,
            record_copy(buffer, nullptr, memory, memory, 0, 2, 8, 0, nullptr, nullptr, nullptr));
  cl_int error = CL_SUCCESS;
  const ContextHandle foreign(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
  const Buffer elsewhere(clCreateBuffer(foreign, CL_MEM_READ_WRITE, kBytes, nullptr, &error));
  EXPECT_EQ(CL_INVALID_CONTEXT, recorded_fill(buffer, elsewhere, 1));
  // What was refused was not recorded.
  ASSERT_EQ(CL_SUCCESS, recorded_add(buffer, memory, 1));
  ASSERT_EQ(CL_SUCCESS, finalize(buffer));
  ASSERT_EQ(CL_SUCCESS, run(buffer));
  EXPECT_EQ(all(1), values(memory));
}

TEST_F(CommandBuffers, CheckLaunchesAsQueuesDo) {
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1 crashes when it refuses a recorded launch";
  cl_command_buffer_khr buffer = make(queue);
  const auto launch = [&](cl_kernel kernel, cl_uint dimensions, std::size_t global, std::size_t local) {
    return record_kernel(buffer, nullptr, nullptr, kernel, dimensions, nullptr, &global, &local, 0, nullptr,
                         nullptr, nullptr);
  };
  const KernelHandle unset = make_kernel(program, "multiply");
  EXPECT_EQ(CL_INVALID_KERNEL, launch(nullptr, 1, 4, 2));
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(unset, 1, 4, 2));
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, launch(add, 0, 4, 2));
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, launch(add, 4, 4, 2));
  ASSERT_EQ(CL_SUCCESS, recorded_add(buffer, memory, 1));
  EXPECT_NE(CL_SUCCESS, launch(add, 1, std::size_t{1} << 30, std::size_t{1} << 29));
  const cl_ndrange_kernel_command_properties_khr unknown[] = {0x1234, 1, 0};
  EXPECT_EQ(CL_INVALID_VALUE, record_kernel(buffer, nullptr, unknown, add, 1, nullptr, &kCount, nullptr, 0,
                                            nullptr, nullptr, nullptr));
}

TEST_F(CommandBuffers, WantImagesForCommandsOnImages) {
  cl_command_buffer_khr buffer = make(queue);
  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t region[3] = {1, 1, 1};
  const cl_float color[4] = {};
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, record_image(buffer, nullptr, nullptr, nullptr, origin, origin, region, 0,
                                                nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            record_fill_image(buffer, nullptr, nullptr, color, origin, region, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, record_buffer_to_image(buffer, nullptr, memory, nullptr, 0, origin, region,
                                                          0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, record_image_to_buffer(buffer, nullptr, nullptr, memory, origin, region, 0,
                                                          0, nullptr, nullptr, nullptr));
}

TEST_F(CommandBuffers, WantAConsistentListOfQueues) {
  cl_command_buffer_khr buffer = adder(1);
  cl_command_queue handles[] = {queue, queue};
  EXPECT_EQ(CL_INVALID_VALUE, enqueue(1, nullptr, buffer, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, enqueue(0, handles, buffer, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, enqueue(2, handles, buffer, 0, nullptr, nullptr));
  cl_int error = CL_SUCCESS;
  const ContextHandle foreign(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
  const QueueHandle elsewhere(clCreateCommandQueue(foreign, device, CL_QUEUE_PROFILING_ENABLE, &error));
  cl_command_queue handle = elsewhere;
  EXPECT_EQ(CL_INVALID_CONTEXT, enqueue(1, &handle, buffer, 0, nullptr, nullptr));
  const EventHandle gate = make_user_event();
  const cl_event event = gate;
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, enqueue(0, nullptr, buffer, 1, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, enqueue(0, nullptr, buffer, 0, &event, nullptr));
}

}  // namespace
}  // namespace fairgv::test
