// RAII for the driver's reference-counted objects.
#pragma once

#include <CL/cl.h>

#include <utility>

namespace fairgv::opencl {

/// Owns one reference to a driver object and releases it. Empty: get() is null.
template <class T, cl_int(CL_API_CALL* release)(T)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T raw) : raw_(raw) {}
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      raw_ = std::exchange(other.raw_, nullptr);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { reset(); }

  T get() const { return raw_; }
  explicit operator bool() const { return raw_ != nullptr; }

  /// Where a driver function stores the handle that it makes.
  T* receive() {
    reset();
    return &raw_;
  }
  /// Gives the reference to the caller for good.
  T give_up() { return std::exchange(raw_, nullptr); }
  void reset() {
    if (raw_ != nullptr) release(std::exchange(raw_, nullptr));
  }

 private:
  T raw_ = nullptr;
};

using ContextHandle = Handle<cl_context, clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, clReleaseCommandQueue>;
using MemoryHandle = Handle<cl_mem, clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, clReleaseKernel>;
using SamplerHandle = Handle<cl_sampler, clReleaseSampler>;
using EventHandle = Handle<cl_event, clReleaseEvent>;

}  // namespace fairgv::opencl
