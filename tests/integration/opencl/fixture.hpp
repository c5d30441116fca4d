// Shared by the OpenCL API tests: RAII handles and fixtures with a context, a queue, a built program.
//
// The tests use nothing but OpenCL, on the first visible platform: they run on a bare driver and, with the
// same expectations, through FairGV.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace fairgv::test {

template <class T, cl_int (*release)(T)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T raw) : raw_(raw) {}
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Handle() {
    if (raw_ != nullptr) release(raw_);
  }
  operator T() const { return raw_; }
  T get() const { return raw_; }
  /// For calls that return the handle through a pointer.
  T* out() { return &raw_; }
  T* address() { return &raw_; }
  T give_up() { return std::exchange(raw_, nullptr); }

 private:
  T raw_ = nullptr;
};

using ContextHandle = Handle<cl_context, clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, clReleaseCommandQueue>;
using Buffer = Handle<cl_mem, clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, clReleaseKernel>;
using SamplerHandle = Handle<cl_sampler, clReleaseSampler>;
using EventHandle = Handle<cl_event, clReleaseEvent>;

using Bytes = std::vector<std::uint8_t>;

/// A platform, a device, a context, an in-order queue with profiling.
class OpenCL : public testing::Test {
 protected:
  void SetUp() override;

  QueueHandle make_queue(cl_command_queue_properties properties = 0) const;
  Buffer make_buffer(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr) const;
  Buffer make_buffer(const Bytes& contents) const;
  EventHandle make_user_event() const;
  ProgramHandle make_program(const std::string& source) const;
  ProgramHandle build(const std::string& source, const std::string& options = "") const;
  KernelHandle make_kernel(cl_program program, const char* name) const;

  /// Contents of a buffer, read with a blocking call on `queue`.
  Bytes read(cl_mem buffer, std::size_t bytes) const;
  Bytes random_bytes(std::size_t count);
  /// A number from 0 to `most`.
  std::size_t pick(std::size_t most);

  std::string device_text(cl_device_info param) const;
  bool device_has(const char* extension) const;
  /// PoCL 3.1 itself, whose known faults some tests must step around; not PoCL through FairGV.
  bool is_bare_pocl() const;

  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  ContextHandle context;
  QueueHandle queue;
  std::mt19937_64 random;

 private:
  std::optional<testing::ScopedTrace> trace_;
};

std::int32_t status_of(cl_event event);

/// The answer of a clGet*Info function about an object, as a T.
template <class T, class Query, class Object>
T ask(Query query, Object object, cl_uint param) {
  T value{};
  EXPECT_EQ(CL_SUCCESS, query(object, param, sizeof(value), &value, nullptr));
  return value;
}

template <class T>
T event_info(cl_event event, cl_event_info param) {
  return ask<T>(clGetEventInfo, event, param);
}

template <class T>
T device_info(cl_device_id device, cl_device_info param) {
  return ask<T>(clGetDeviceInfo, device, param);
}

template <class T>
T memory_info(cl_mem memory, cl_mem_info param) {
  return ask<T>(clGetMemObjectInfo, memory, param);
}

template <class T>
T image_info(cl_mem image, cl_image_info param) {
  return ask<T>(clGetImageInfo, image, param);
}

template <class T>
T sampler_info(cl_sampler sampler, cl_sampler_info param) {
  return ask<T>(clGetSamplerInfo, sampler, param);
}

}  // namespace fairgv::test
