// Shared by the tests of command buffers: the extension's functions, a kernel that adds, and a buffer to add
// to.
#pragma once

#include "tests/integration/opencl/fixture.hpp"

#include <CL/cl_ext.h>  // after the fixture, which selects the version of OpenCL

#include <cstring>
#include <thread>

namespace fairgv::test {

inline constexpr const char* kSource = R"(
  kernel void add(global int* out, int value) { out[get_global_id(0)] += value; }
  kernel void multiply(global int* out, int factor) { out[get_global_id(0)] *= factor; }
)";
inline constexpr std::size_t kCount = 64;
inline constexpr std::size_t kBytes = kCount * sizeof(cl_int);

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

}  // namespace fairgv::test
