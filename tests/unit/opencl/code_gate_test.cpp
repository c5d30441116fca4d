// The gate between a launch's code and the launch, on the machine's real OpenCL driver.
#include "runtime/opencl/code_gate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <future>

namespace fairgv::opencl {
namespace {

using namespace std::chrono_literals;

struct CodeGateTest : testing::Test {
  void SetUp() override {
    cl_platform_id platform = nullptr;
    ASSERT_EQ(clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS);
    ASSERT_EQ(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), CL_SUCCESS);
    context = ContextHandle(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
    ASSERT_EQ(error, CL_SUCCESS);
    if (!gate_holds(context.get(), device)) GTEST_SKIP() << "this driver cannot be stopped";
    queue = QueueHandle(clCreateCommandQueueWithProperties(context.get(), device, nullptr, &error));
    ASSERT_EQ(error, CL_SUCCESS);
    buffer =
        MemoryHandle(clCreateBuffer(context.get(), CL_MEM_COPY_HOST_PTR, sizeof(content), &content, &error));
    ASSERT_EQ(error, CL_SUCCESS);
  }

  void read_after(std::initializer_list<cl_event> waits) {
    const auto count = static_cast<cl_uint>(waits.size());
    ASSERT_EQ(clEnqueueReadBuffer(queue.get(), buffer.get(), CL_FALSE, 0, sizeof(value), &value, count,
                                  waits.begin(), command.receive()),
              CL_SUCCESS);
  }
  cl_int status() const {
    cl_int status = CL_QUEUED;
    clGetEventInfo(command.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
    return status;
  }

  cl_device_id device = nullptr;
  int content = 42;
  int value = 0;
  ContextHandle context;
  QueueHandle queue;
  MemoryHandle buffer;
  EventHandle command;
  CodeGate gate;
  std::promise<void> reached;
  cl_int error = CL_SUCCESS;
};

TEST_F(CodeGateTest, HoldsACommandBackUntilItIsOpened) {
  const cl_event start = gate.start(context.get(), error);
  ASSERT_EQ(error, CL_SUCCESS);
  read_after({start});
  auto at_gate = reached.get_future();
  ASSERT_TRUE(gate.close(command.get(), [this] { reached.set_value(); }));
  EXPECT_EQ(at_gate.wait_for(5ms), std::future_status::timeout) << "it may not begin yet";
  gate.begin(queue.get());
  at_gate.wait();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(value, 0);
  EXPECT_FALSE(gate.missed_with());
  gate.open();
  ASSERT_EQ(clFinish(queue.get()), CL_SUCCESS);
  EXPECT_EQ(value, 42);
  EXPECT_FALSE(gate.ended(status())) << "it came to the gate";
  EXPECT_GE(gate.held(), 20ms);
}

// As a driver's thread that serves the program for a moment (vgpu::StandIn).
TEST_F(CodeGateTest, HoldsWhatTheDriversOwnThreadHasBegun) {
  EventHandle first;
  const EventHandle go(clCreateUserEvent(context.get(), &error));
  const cl_event wait = go.get();
  int read_first = 0;
  ASSERT_EQ(clEnqueueReadBuffer(queue.get(), buffer.get(), CL_FALSE, 0, sizeof(read_first), &read_first, 1,
                                &wait, first.receive()),
            CL_SUCCESS);
  const cl_event start = gate.start(context.get(), error);
  ASSERT_EQ(error, CL_SUCCESS);
  read_after({start});
  auto at_gate = reached.get_future();
  ASSERT_TRUE(gate.close(command.get(), [this] { reached.set_value(); }));
  const auto begin = [](cl_event, cl_int, void* test) {
    auto& self = *static_cast<CodeGateTest*>(test);
    self.gate.begin(self.queue.get());
  };
  ASSERT_EQ(clSetEventCallback(first.get(), CL_COMPLETE, begin, this), CL_SUCCESS);
  ASSERT_EQ(clSetUserEventStatus(go.get(), CL_COMPLETE), CL_SUCCESS);
  at_gate.wait();
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(value, 0);
  gate.open();
  ASSERT_EQ(clFinish(queue.get()), CL_SUCCESS);
  EXPECT_EQ(value, 42);
}

TEST_F(CodeGateTest, IsMissedByACommandThatFailsBefore) {
  const EventHandle fails(clCreateUserEvent(context.get(), &error));
  const cl_event start = gate.start(context.get(), error);
  ASSERT_EQ(error, CL_SUCCESS);
  read_after({start, fails.get()});
  bool told = false;
  ASSERT_TRUE(gate.close(command.get(), [&] { told = true; }));
  gate.begin(queue.get());
  ASSERT_EQ(clSetUserEventStatus(fails.get(), -5), CL_SUCCESS);
  const cl_event handle = command.get();
  EXPECT_NE(clWaitForEvents(1, &handle), CL_SUCCESS);
  EXPECT_TRUE(gate.ended(status()));
  EXPECT_TRUE(told);
  ASSERT_TRUE(gate.missed_with());
  EXPECT_LT(*gate.missed_with(), 0);
  gate.open();
}

TEST_F(CodeGateTest, FailsACommandThatMustNotBegin) {
  const cl_event start = gate.start(context.get(), error);
  ASSERT_EQ(error, CL_SUCCESS);
  read_after({start});
  ASSERT_TRUE(gate.close(command.get(), [this] { reached.set_value(); }));
  gate.cancel();
  const cl_event handle = command.get();
  EXPECT_NE(clWaitForEvents(1, &handle), CL_SUCCESS);
  EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace fairgv::opencl
