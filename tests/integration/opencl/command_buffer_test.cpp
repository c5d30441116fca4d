// Command buffers (cl_khr_command_buffer): recording, replaying, states and queries.
#include <algorithm>

#include "tests/integration/opencl/command_buffer_fixture.hpp"

namespace fairgv::test {
namespace {

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
  // Recording does not change later launches of the kernel either.
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
  if ((capabilities & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) == 0) {
    GTEST_SKIP() << "the driver has no simultaneous use";
  }
  const EventHandle gate = make_user_event();
  cl_command_buffer_khr buffer = adder(1, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(CL_SUCCESS, run(buffer, {gate}));
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_PENDING_KHR}, state(buffer));
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(all(100), values(memory));
}

TEST_F(CommandBuffers, AnswerQueriesAboutTheirContents) {
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

}  // namespace
}  // namespace fairgv::test
