// Command buffers: the error of every wrong argument.
#include "tests/integration/opencl/command_buffer_fixture.hpp"

namespace fairgv::test {
namespace {

class CommandBufferErrors : public CommandBuffers {};

TEST_F(CommandBufferErrors, AreNotMadeFromNonsense) {
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

TEST_F(CommandBufferErrors, RefuseNullEverywhere) {
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, retain(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, release(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, finalize(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, run(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, info(nullptr, CL_COMMAND_BUFFER_STATE_KHR, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, recorded_fill(nullptr, memory, 1));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, record_barrier(nullptr, nullptr, 0, nullptr, nullptr, nullptr));
}

TEST_F(CommandBufferErrors, AreRecordedWithoutQueuesAndMutableHandles) {
  cl_command_buffer_khr buffer = make(queue);
  cl_mutable_command_khr handle = nullptr;
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, record_barrier(buffer, queue, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, record_barrier(buffer, nullptr, 0, nullptr, nullptr, &handle));
}

TEST_F(CommandBufferErrors, RefuseSyncPointsTheyDoNotKnow) {
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

TEST_F(CommandBufferErrors, CheckTheArgumentsOfWhatIsRecorded) {
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
  // The refused commands were not recorded.
  ASSERT_EQ(CL_SUCCESS, recorded_add(buffer, memory, 1));
  ASSERT_EQ(CL_SUCCESS, finalize(buffer));
  ASSERT_EQ(CL_SUCCESS, run(buffer));
  EXPECT_EQ(all(1), values(memory));
}

TEST_F(CommandBufferErrors, CheckLaunchesAsQueuesDo) {
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

TEST_F(CommandBufferErrors, WantImagesForCommandsOnImages) {
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

TEST_F(CommandBufferErrors, WantAConsistentListOfQueues) {
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

TEST_F(CommandBufferErrors, RecordNoLaunchWithAReleasedArgument) {
  if (is_bare_pocl()) GTEST_SKIP() << "undefined on the driver itself";
  cl_command_buffer_khr buffer = make(queue);
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(add, 0, sizeof(cl_mem), make_buffer(kBytes).address()));
  const cl_int value = 1;
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(add, 1, sizeof(value), &value));
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, record_kernel(buffer, nullptr, nullptr, add, 1, nullptr, &kCount, nullptr,
                                                  0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, recorded_add(buffer, memory, 1));
  EXPECT_EQ(CL_SUCCESS, finalize(buffer));
  EXPECT_EQ(CL_SUCCESS, run(buffer));
  EXPECT_EQ(std::vector<cl_int>(kCount, 1), values(memory));
}

}  // namespace
}  // namespace fairgv::test
