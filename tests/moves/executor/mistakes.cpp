#include <chrono>

#include "tests/moves/executor/expect.hpp"
#include "tests/moves/executor/steps.hpp"

namespace fairgv::moves {
namespace {

constexpr std::size_t kCount = 64;  // elements of the buffer behind a user event that fails

void add_status(Objects& objects, cl_event event) {
  cl_int status = 0;
  expect(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr),
         "clGetEventInfo");
  objects.results.add_value(status);
}

}  // namespace

void carry_out(Objects& objects, const LaunchWithoutArguments& step) {
  const std::size_t items = 16;
  expect(clEnqueueNDRangeKernel(objects.queues.at(step.queue), objects.kernels.at(step.kernel), 1, nullptr,
                                &items, nullptr, 0, nullptr, nullptr),
         "clEnqueueNDRangeKernel without arguments", CL_INVALID_KERNEL_ARGS);
}

void carry_out(Objects& objects, const BuildWithError& step) {
  const std::string source =
      "kernel void wrong(global uint* out) { out[" + std::to_string(step.seed) + "] = undeclared; }\n";
  const char* text = source.c_str();
  cl_int error = CL_SUCCESS;
  const cl_program program =
      clCreateProgramWithSource(objects.contexts.at(step.context), 1, &text, nullptr, &error);
  expect(error, "clCreateProgramWithSource");
  expect(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), "clBuildProgram of an error",
         CL_BUILD_PROGRAM_FAILURE);
  clCreateKernel(program, "wrong", &error);
  expect(error, "clCreateKernel of what was not built", CL_INVALID_PROGRAM_EXECUTABLE);
  std::size_t size = 0;
  expect(clGetProgramBuildInfo(program, objects.context_devices.at(step.context), CL_PROGRAM_BUILD_LOG, 0,
                               nullptr, &size),
         "clGetProgramBuildInfo");
  if (size < 2) throw Unexpected("the log of a failed build is empty");
  expect(clReleaseProgram(program), "clReleaseProgram");
}

void carry_out(Objects& objects, const WrongCalls& step) {
  const cl_command_queue queue = objects.queues.at(step.queue);
  const cl_mem memory = objects.memories.at(step.memory);
  const cl_kernel kernel = objects.kernels.at(step.kernel);
  std::size_t bytes = 0;
  expect(clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(bytes), &bytes, nullptr), "clGetMemObjectInfo");
  const cl_uint pattern = 0;
  const std::size_t items = 1;
  expect(clEnqueueFillBuffer(queue, memory, &pattern, sizeof(pattern), 0, (bytes / 4 + 1) * 4, 0, nullptr,
                             nullptr),
         "clEnqueueFillBuffer beyond the buffer", CL_INVALID_VALUE);
  expect(clEnqueueFillBuffer(queue, memory, &pattern, 3, 0, 3, 0, nullptr, nullptr),
         "clEnqueueFillBuffer with three bytes", CL_INVALID_VALUE);
  expect(clSetKernelArg(kernel, 99, sizeof(pattern), &pattern), "clSetKernelArg beyond the last",
         CL_INVALID_ARG_INDEX);
  expect(clEnqueueNDRangeKernel(queue, kernel, 4, nullptr, &items, nullptr, 0, nullptr, nullptr),
         "clEnqueueNDRangeKernel in four dimensions", CL_INVALID_WORK_DIMENSION);
  expect(clWaitForEvents(0, nullptr), "clWaitForEvents for none", CL_INVALID_VALUE);
}

void carry_out(Objects& objects, const FailUserEvent& step) {
  const cl_context context = objects.contexts.at(step.context);
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  cl_int error = CL_SUCCESS;
  const cl_command_queue queue = clCreateCommandQueueWithProperties(
      context, objects.context_devices.at(step.context), properties, &error);
  expect(error, "clCreateCommandQueueWithProperties");
  std::vector<cl_uint> contents(kCount, static_cast<cl_uint>(step.status));
  const cl_mem memory =
      clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, kCount * sizeof(cl_uint), contents.data(), &error);
  expect(error, "clCreateBuffer");
  std::vector<cl_event> events{clCreateUserEvent(context, &error)};
  expect(error, "clCreateUserEvent");
  for (std::size_t i = 0; i < step.length; ++i) {
    const cl_uint pattern = 7;
    cl_event filled = nullptr;
    expect(clEnqueueFillBuffer(queue, memory, &pattern, sizeof(pattern), 0, kCount * sizeof(cl_uint), 1,
                               &events.back(), &filled),
           "clEnqueueFillBuffer");
    events.push_back(filled);
  }
  expect(clFlush(queue), "clFlush");
  if (step.microseconds == 0) {
    expect(clSetUserEventStatus(events.front(), step.status), "clSetUserEventStatus");
  } else {
    objects.late_events.set(events.front(), step.status, std::chrono::microseconds(step.microseconds));
  }
  expect(clWaitForEvents(1, &events.back()), "clWaitForEvents behind a failed event",
         CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  for (const cl_event each : events) {
    // The thread that sets the user event may not have returned yet.
    if (each != events.front() || step.microseconds == 0) add_status(objects, each);
    expect(clReleaseEvent(each), "clReleaseEvent");
  }
  expect(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, kCount * sizeof(cl_uint), contents.data(), 0, nullptr,
                             nullptr),
         "clEnqueueReadBuffer");
  objects.results.add(contents.data(), kCount * sizeof(cl_uint));
  expect(clReleaseMemObject(memory), "clReleaseMemObject");
  expect(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
}

}  // namespace fairgv::moves
