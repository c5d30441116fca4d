// Calls that must be refused, each with the error that the specification names; and reference counts.
#include <array>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

class Errors : public OpenCL {
 protected:
  void SetUp() override {
    OpenCL::SetUp();
    buffer = make_buffer(kBytes);
    program = build(
        "kernel void add(global int* out, int value) { out[get_global_id(0)] += value; }\n"
        "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void four(global int* out) { out[0] = 1; }\n"
        "kernel void scratch(local int* memory) { memory[0] = 1; }");
    kernel = make_kernel(program, "add");
    const cl_int value = 1;
    ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(cl_mem), buffer.address()));
    ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(value), &value));
  }

  static constexpr std::size_t kBytes = 4096;
  Buffer buffer;
  ProgramHandle program;
  KernelHandle kernel;
  std::array<std::uint8_t, kBytes> host{};
  cl_int error = 77;
};

/// For calls that create objects: they must return nothing and this error.
#define EXPECT_REFUSED(code, call) \
  do {                             \
    error = 77;                    \
    EXPECT_EQ(nullptr, (call));    \
    EXPECT_EQ((code), error);      \
  } while (false)

TEST_F(Errors, OfPlatformsAndDevices) {
  EXPECT_EQ(CL_INVALID_VALUE, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &device, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clGetDeviceInfo(device, 0x9999, 0, nullptr, nullptr));
  char small = 0;
  EXPECT_EQ(CL_INVALID_VALUE, clGetDeviceInfo(device, CL_DEVICE_NAME, 1, &small, nullptr));
  EXPECT_EQ(CL_INVALID_DEVICE, clGetDeviceInfo(nullptr, CL_DEVICE_NAME, 0, nullptr, nullptr));
}

TEST_F(Errors, OfContexts) {
  EXPECT_REFUSED(CL_INVALID_VALUE, clCreateContext(nullptr, 0, &device, nullptr, nullptr, &error));
  const cl_context_properties unknown[] = {0x9999, 1, 0};
  EXPECT_REFUSED(CL_INVALID_PROPERTY, clCreateContext(unknown, 1, &device, nullptr, nullptr, &error));
  const cl_context_properties on_platform[] = {CL_CONTEXT_PLATFORM,
                                               reinterpret_cast<cl_context_properties>(platform), 0};
  EXPECT_REFUSED(CL_INVALID_VALUE, clCreateContext(on_platform, 1, &device, nullptr, this, &error));
  EXPECT_EQ(CL_INVALID_VALUE, clGetContextInfo(context, 0x9999, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_CONTEXT, clRetainContext(nullptr));
  EXPECT_EQ(CL_INVALID_CONTEXT, clReleaseContext(nullptr));
}

TEST_F(Errors, OfQueues) {
  EXPECT_REFUSED(CL_INVALID_CONTEXT, clCreateCommandQueue(nullptr, device, 0, &error));
  EXPECT_REFUSED(CL_INVALID_DEVICE, clCreateCommandQueue(context, nullptr, 0, &error));
  EXPECT_REFUSED(CL_INVALID_VALUE, clCreateCommandQueue(context, device, 1U << 20, &error));
  const cl_queue_properties unknown[] = {0x9999, 1, 0};
  EXPECT_REFUSED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, unknown, &error));
  EXPECT_EQ(CL_INVALID_VALUE, clGetCommandQueueInfo(queue, 0x9999, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, clFinish(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, clFlush(nullptr));
}

TEST_F(Errors, OfQueriesThatAreForQueuesOnTheDevice) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clGetCommandQueueInfo(queue, 0x9999, 0, nullptr, nullptr));
}

TEST_F(Errors, OfBuffers) {
  EXPECT_REFUSED(CL_INVALID_CONTEXT, clCreateBuffer(nullptr, CL_MEM_READ_WRITE, 16, nullptr, &error));
  EXPECT_REFUSED(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, CL_MEM_READ_WRITE, 0, nullptr, &error));
  const auto most = device_info<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  EXPECT_REFUSED(CL_INVALID_BUFFER_SIZE,
                 clCreateBuffer(context, CL_MEM_READ_WRITE, most + 1, nullptr, &error));
  EXPECT_REFUSED(CL_INVALID_VALUE,
                 clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 16, nullptr, &error));
  EXPECT_REFUSED(CL_INVALID_VALUE, clCreateBuffer(context, cl_mem_flags{1} << 40, 16, nullptr, &error));
  EXPECT_REFUSED(CL_INVALID_VALUE,
                 clCreateBuffer(context, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 16, nullptr, &error));
  EXPECT_REFUSED(CL_INVALID_VALUE, clCreateBuffer(context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 16,
                                                  host.data(), &error));
  EXPECT_REFUSED(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_READ_WRITE, 16, host.data(), &error));
  EXPECT_REFUSED(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 16, nullptr, &error));
  EXPECT_REFUSED(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 16, nullptr, &error));
  EXPECT_EQ(CL_INVALID_VALUE, clGetMemObjectInfo(buffer, 0x9999, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, clReleaseMemObject(nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clSetMemObjectDestructorCallback(buffer, nullptr, nullptr));
}

TEST_F(Errors, OfSubBuffers) {
  const cl_buffer_region outside{0, kBytes + 1};
  const cl_buffer_region empty{0, 0};
  const cl_buffer_region inside{0, 16};
  const auto create = [&](cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void* region) {
    return clCreateSubBuffer(parent, flags, type, region, &error);
  };
  EXPECT_REFUSED(CL_INVALID_VALUE, create(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &outside));
  EXPECT_REFUSED(CL_INVALID_BUFFER_SIZE, create(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &empty));
  EXPECT_REFUSED(CL_INVALID_VALUE, create(buffer, 0, 0x9999, &inside));
  EXPECT_REFUSED(CL_INVALID_VALUE, create(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, nullptr));
  EXPECT_REFUSED(CL_INVALID_MEM_OBJECT, create(nullptr, 0, CL_BUFFER_CREATE_TYPE_REGION, &inside));
  const Buffer read_only = make_buffer(kBytes, CL_MEM_READ_ONLY);
  EXPECT_REFUSED(CL_INVALID_VALUE,
                 create(read_only, CL_MEM_WRITE_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &inside));
  const Buffer part(create(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &inside));
  EXPECT_REFUSED(CL_INVALID_MEM_OBJECT, create(part, 0, CL_BUFFER_CREATE_TYPE_REGION, &inside));
}

TEST_F(Errors, OfReadsAndWrites) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            clEnqueueReadBuffer(nullptr, buffer, CL_TRUE, 0, 16, host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            clEnqueueReadBuffer(queue, nullptr, CL_TRUE, 0, 16, host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE,
            clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 16, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE,
            clEnqueueReadBuffer(queue, buffer, CL_TRUE, kBytes, 1, host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE,
            clEnqueueWriteBuffer(queue, buffer, CL_TRUE, SIZE_MAX, 2, host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST,
            clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 16, host.data(), 1, nullptr, nullptr));
  const EventHandle gate = make_user_event();
  const cl_event waits[] = {gate};
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST,
            clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 16, host.data(), 0, waits, nullptr));
  const Buffer closed = make_buffer(64, CL_MEM_HOST_NO_ACCESS);
  EXPECT_EQ(CL_INVALID_OPERATION,
            clEnqueueReadBuffer(queue, closed, CL_TRUE, 0, 16, host.data(), 0, nullptr, nullptr));
  const Buffer read_only = make_buffer(64, CL_MEM_HOST_READ_ONLY);
  EXPECT_EQ(CL_INVALID_OPERATION,
            clEnqueueWriteBuffer(queue, read_only, CL_TRUE, 0, 16, host.data(), 0, nullptr, nullptr));
}

TEST_F(Errors, OfObjectsOfAnotherContext) {
  const ContextHandle elsewhere(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
  const Buffer foreign(clCreateBuffer(elsewhere, CL_MEM_READ_WRITE, 64, nullptr, &error));
  EXPECT_EQ(CL_INVALID_CONTEXT,
            clEnqueueReadBuffer(queue, foreign, CL_TRUE, 0, 16, host.data(), 0, nullptr, nullptr));
  const EventHandle gate(clCreateUserEvent(elsewhere, &error));
  const cl_event waits[] = {gate};
  EXPECT_EQ(CL_INVALID_CONTEXT,
            clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 16, host.data(), 1, waits, nullptr));
  EXPECT_EQ(CL_INVALID_CONTEXT, clEnqueueMarkerWithWaitList(queue, 1, waits, nullptr));
}

TEST_F(Errors, OfRects) {
  const std::size_t zero[] = {0, 0, 0};
  const std::size_t box[] = {16, 4, 1};
  const std::size_t flat[] = {16, 0, 1};
  const std::size_t far[] = {0, 4000, 0};
  const auto read_rect = [&](const std::size_t* origin, const std::size_t* region, std::size_t row,
                             std::size_t slice) {
    return clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, zero, region, row, slice, 0, 0,
                                   host.data(), 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, read_rect(zero, flat, 0, 0));
  EXPECT_EQ(CL_INVALID_VALUE, read_rect(zero, box, 15, 0));
  EXPECT_EQ(CL_INVALID_VALUE, read_rect(zero, box, 16, 63));
  EXPECT_EQ(CL_INVALID_VALUE, read_rect(far, box, 16, 0));
}

TEST_F(Errors, OfCopiesAndFills) {
  const Buffer other = make_buffer(64);
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(queue, buffer, buffer, 0, 8, 16, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueCopyBuffer(queue, buffer, other, 0, 60, 16, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            clEnqueueCopyBuffer(queue, buffer, nullptr, 0, 0, 16, 0, nullptr, nullptr));
  const std::uint32_t pattern = 5;
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, &pattern, 3, 0, 12, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, nullptr, 4, 0, 16, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, &pattern, 4, 2, 16, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, &pattern, 4, 0, 18, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE,
            clEnqueueFillBuffer(queue, buffer, &pattern, 4, 0, kBytes + 4, 0, nullptr, nullptr));
}

TEST_F(Errors, OfMaps) {
  EXPECT_REFUSED(CL_INVALID_VALUE, clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, kBytes, 1, 0,
                                                      nullptr, nullptr, &error));
  const Buffer closed = make_buffer(64, CL_MEM_HOST_NO_ACCESS);
  EXPECT_REFUSED(CL_INVALID_OPERATION,
                 clEnqueueMapBuffer(queue, closed, CL_TRUE, CL_MAP_READ, 0, 16, 0, nullptr, nullptr, &error));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, buffer, host.data(), 0, nullptr, nullptr));
}

TEST_F(Errors, OfPrograms) {
  const char* text = "kernel void k() {}";
  const char* missing[] = {text, nullptr};
  EXPECT_REFUSED(CL_INVALID_CONTEXT, clCreateProgramWithSource(nullptr, 1, &text, nullptr, &error));
  EXPECT_REFUSED(CL_INVALID_VALUE, clCreateProgramWithSource(context, 0, &text, nullptr, &error));
  EXPECT_REFUSED(CL_INVALID_VALUE, clCreateProgramWithSource(context, 2, missing, nullptr, &error));
  EXPECT_EQ(CL_INVALID_PROGRAM, clBuildProgram(nullptr, 0, nullptr, "", nullptr, nullptr));
  const ProgramHandle fresh = make_program(text);
  EXPECT_EQ(CL_INVALID_VALUE, clBuildProgram(fresh, 1, nullptr, "", nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clBuildProgram(fresh, 0, nullptr, "", nullptr, this));
  EXPECT_EQ(CL_INVALID_BUILD_OPTIONS, clBuildProgram(fresh, 0, nullptr, "-no-such-option", nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clGetProgramInfo(fresh, 0x9999, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_DEVICE,
            clGetProgramBuildInfo(fresh, nullptr, CL_PROGRAM_BUILD_STATUS, 0, nullptr, nullptr));
}

TEST_F(Errors, OfKernels) {
  EXPECT_REFUSED(CL_INVALID_PROGRAM, clCreateKernel(nullptr, "add", &error));
  EXPECT_REFUSED(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "no_such_kernel", &error));
  EXPECT_REFUSED(CL_INVALID_VALUE, clCreateKernel(program, nullptr, &error));
  const ProgramHandle unbuilt = make_program("kernel void k() {}");
  EXPECT_REFUSED(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(unbuilt, "k", &error));
  EXPECT_EQ(CL_INVALID_VALUE, clGetKernelInfo(kernel, 0x9999, 0, nullptr, nullptr));
}

TEST_F(Errors, OfKernelArguments) {
  const cl_int value = 5;
  const cl_long wide = 5;
  EXPECT_EQ(CL_INVALID_KERNEL, clSetKernelArg(nullptr, 0, sizeof(value), &value));
  EXPECT_EQ(CL_INVALID_ARG_INDEX, clSetKernelArg(kernel, 2, sizeof(value), &value));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 1, sizeof(wide), &wide));
  EXPECT_EQ(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 1, sizeof(value), nullptr));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 0, sizeof(value), &value));
  const KernelHandle local = make_kernel(program, "scratch");
  EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(local, 0, 0, nullptr));
  EXPECT_EQ(CL_INVALID_ARG_VALUE, clSetKernelArg(local, 0, sizeof(value), &value));
}

TEST_F(Errors, OfLaunches) {
  const std::size_t global = 16;
  const std::size_t local = 8;
  const std::size_t odd = 5;
  const std::size_t huge = device_info<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE) * 2;
  const auto launch = [&](cl_kernel which, cl_uint dimensions, const std::size_t* size,
                          const std::size_t* group) {
    return clEnqueueNDRangeKernel(queue, which, dimensions, nullptr, size, group, 0, nullptr, nullptr);
  };
  if (!is_bare_pocl()) {  // it crashes here
    EXPECT_EQ(CL_INVALID_KERNEL, launch(nullptr, 1, &global, nullptr));
  }
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, launch(kernel, 0, &global, nullptr));
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, launch(kernel, 4, &global, nullptr));
  if (device_info<cl_bool>(device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) == CL_FALSE) {
    EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, launch(kernel, 1, &global, &odd));
  }
  const cl_int too_big = launch(kernel, 1, &huge, &huge);
  EXPECT_TRUE(too_big == CL_INVALID_WORK_GROUP_SIZE || too_big == CL_INVALID_WORK_ITEM_SIZE) << too_big;
  const KernelHandle fresh = make_kernel(program, "add");
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(fresh, 1, &global, &local));
  const KernelHandle four = make_kernel(program, "four");
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(four, 0, sizeof(cl_mem), buffer.address()));
  EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, launch(four, 1, &global, &local));
  EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, launch(four, 1, &global, nullptr));
}

TEST_F(Errors, OfEvents) {
  EXPECT_EQ(CL_INVALID_VALUE, clWaitForEvents(0, nullptr));
  const EventHandle gate = make_user_event();
  const cl_event none[] = {nullptr};
  EXPECT_EQ(CL_INVALID_EVENT, clWaitForEvents(1, none));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, none, nullptr));
  EXPECT_REFUSED(CL_INVALID_CONTEXT, clCreateUserEvent(nullptr, &error));
  EXPECT_EQ(CL_INVALID_VALUE, clGetEventInfo(gate, 0x9999, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clSetEventCallback(gate, CL_COMPLETE, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clSetEventCallback(
                                  gate, 17, [](cl_event, cl_int, void*) {}, nullptr));
  EventHandle command;
  ASSERT_EQ(CL_SUCCESS, clEnqueueMarkerWithWaitList(queue, 0, nullptr, command.out()));
  EXPECT_EQ(CL_INVALID_EVENT, clSetUserEventStatus(command, CL_COMPLETE));
}

#undef EXPECT_REFUSED

using References = OpenCL;

TEST_F(References, AreCountedAndReturned) {
  const Buffer buffer = make_buffer(64);
  EXPECT_EQ(1U, memory_info<cl_uint>(buffer, CL_MEM_REFERENCE_COUNT));
  ASSERT_EQ(CL_SUCCESS, clRetainMemObject(buffer));
  EXPECT_EQ(2U, memory_info<cl_uint>(buffer, CL_MEM_REFERENCE_COUNT));
  ASSERT_EQ(CL_SUCCESS, clReleaseMemObject(buffer));
  EXPECT_EQ(1U, memory_info<cl_uint>(buffer, CL_MEM_REFERENCE_COUNT));

  const EventHandle gate = make_user_event();
  ASSERT_EQ(CL_SUCCESS, clRetainEvent(gate));
  EXPECT_EQ(2U, event_info<cl_uint>(gate, CL_EVENT_REFERENCE_COUNT));
  ASSERT_EQ(CL_SUCCESS, clReleaseEvent(gate));
  EXPECT_EQ(1U, event_info<cl_uint>(gate, CL_EVENT_REFERENCE_COUNT));
}

TEST_F(References, HeldByObjectsOutliveTheApplications) {
  ContextHandle own(clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr));
  QueueHandle line(clCreateCommandQueue(own, device, 0, nullptr));
  const Buffer buffer(clCreateBuffer(own, CL_MEM_READ_WRITE, 64, nullptr, nullptr));
  const cl_context raw = own.get();
  ASSERT_EQ(CL_SUCCESS, clReleaseContext(own.give_up()));
  cl_context told = nullptr;
  EXPECT_EQ(CL_SUCCESS, clGetCommandQueueInfo(line, CL_QUEUE_CONTEXT, sizeof(told), &told, nullptr));
  EXPECT_EQ(raw, told);
  const std::uint8_t value = 9;
  EXPECT_EQ(CL_SUCCESS, clEnqueueFillBuffer(line, buffer, &value, 1, 0, 64, 0, nullptr, nullptr));
  Bytes back(64);
  EXPECT_EQ(CL_SUCCESS, clEnqueueReadBuffer(line, buffer, CL_TRUE, 0, 64, back.data(), 0, nullptr, nullptr));
  EXPECT_EQ(Bytes(64, 9), back);
}

TEST_F(References, MayBeReleasedWhileCommandsAreUnderWay) {
  Bytes back(1 << 16);
  const EventHandle gate = make_user_event();
  {
    QueueHandle line = make_queue();
    const Buffer buffer = make_buffer(back.size());
    const std::uint8_t value = 4;
    const cl_event waits[] = {gate};
    ASSERT_EQ(CL_SUCCESS, clEnqueueFillBuffer(line, buffer, &value, 1, 0, back.size(), 1, waits, nullptr));
    EventHandle event;
    ASSERT_EQ(CL_SUCCESS, clEnqueueReadBuffer(line, buffer, CL_FALSE, 0, back.size(), back.data(), 0, nullptr,
                                              event.out()));
    ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
    ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, event.address()));
  }
  EXPECT_EQ(Bytes(back.size(), 4), back);
}

}  // namespace
}  // namespace fairgv::test
