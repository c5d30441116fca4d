#pragma once
// The OpenCL C API as these programs use it: errors as exceptions that name the failing call, and owning
// handles that release themselves. Nothing here is specific to one platform.

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace workloads {

/// A failed OpenCL call; what() is one line: "clFinish failed: CL_OUT_OF_RESOURCES (-5)".
class ClError : public std::runtime_error {
 public:
  ClError(const std::string& call, cl_int code, const std::string& detail = "");
};

/// The specification's name for a status code, such as "CL_INVALID_VALUE".
std::string status_name(cl_int code);

/// Throws ClError naming `call` unless `code` is CL_SUCCESS.
inline void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) throw ClError(call, code);
}

/// Sole owner of one reference to an OpenCL object.
template <typename Object, cl_int(CL_API_CALL* release)(Object)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(Object object) : object_(object) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) release(object_);
  }

  Object get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object object_ = nullptr;
};

using Context = Handle<cl_context, clReleaseContext>;
using Queue = Handle<cl_command_queue, clReleaseCommandQueue>;
using Buffer = Handle<cl_mem, clReleaseMemObject>;
using Program = Handle<cl_program, clReleaseProgram>;
using Kernel = Handle<cl_kernel, clReleaseKernel>;
using Event = Handle<cl_event, clReleaseEvent>;

namespace detail {
inline void set_argument(const Kernel& kernel, cl_uint index, const Buffer& buffer) {
  const cl_mem memory = buffer.get();
  check(clSetKernelArg(kernel.get(), index, sizeof(memory), &memory), "clSetKernelArg");
}

template <typename Value>
void set_argument(const Kernel& kernel, cl_uint index, const Value& value) {
  check(clSetKernelArg(kernel.get(), index, sizeof(value), &value), "clSetKernelArg");
}
}  // namespace detail

/// Sets all arguments of a kernel in order: buffers, and plain values such as cl_int or cl_float.
template <typename... Arguments>
void set_arguments(const Kernel& kernel, const Arguments&... arguments) {
  cl_uint index = 0;
  (detail::set_argument(kernel, index++, arguments), ...);
}

}  // namespace workloads
