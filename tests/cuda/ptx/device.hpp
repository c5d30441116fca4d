// Runs translated PTX on the OpenCL device that the software CUDA device uses: the arguments of interface
// order, a runtime block, scratch memory. For tests; throws std::runtime_error with the driver's message.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cuda-shim/softcuda/translate/heap_block.hpp"
#include "cuda-shim/softcuda/translate/runtime_block.hpp"
#include "cuda-shim/softcuda/translate/translate.hpp"

namespace fairgv::ptx_test {

using Extent = std::array<std::size_t, 3>;

/// Bytes of a kernel's parameter block, put together the way CUDA does.
class Parameters {
 public:
  template <class T>
  Parameters& add(const T& value) {
    bytes_.resize((bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(T));
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// The process's OpenCL device; made at the first use.
class Device {
 public:
  static Device& get();

  cl_context context() const { return context_; }
  cl_device_id id() const { return id_; }
  cl_command_queue queue() const { return queue_; }
  std::size_t units() const { return units_; }

 private:
  Device();

  cl_device_id id_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::size_t units_ = 1;
};

/// Memory whose host address is its device address.
template <class T>
class Memory {
 public:
  explicit Memory(std::size_t count, T value = {}) : data_(allocate(count * sizeof(T))), count_(count) {
    for (T& each : *this) each = value;
  }
  explicit Memory(const std::vector<T>& values) : Memory(values.size()) {
    for (std::size_t i = 0; i < count_; ++i) data_[i] = values[i];
  }
  ~Memory() { clSVMFree(Device::get().context(), data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }

 private:
  static T* allocate(std::size_t bytes) {
    return static_cast<T*>(clSVMAlloc(Device::get().context(), CL_MEM_READ_WRITE, bytes > 0 ? bytes : 1, 0));
  }
  T* data_;
  std::size_t count_;
};

/// A translated and built module.
class Module {
 public:
  explicit Module(std::string_view ptx);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const softcuda::TranslatedModule& translated() const { return translated_; }
  const softcuda::KernelInfo& info(const std::string& kernel) const;
  /// The place of a variable of the module.
  std::byte* variable(const std::string& name);

  /// Launches and waits. `kernel` is a PTX name, or a part of a name that fits one kernel only.
  void launch(const std::string& kernel, Extent grid, Extent block, const Parameters& parameters,
              std::size_t dynamic_shared = 0);

  /// Of each thread's call stack, in the launches that follow.
  void set_stack_bytes(std::uint32_t bytes) { stack_bytes_ = bytes; }

  /// Gives the launches that follow a heap of that size.
  void make_heap(std::size_t bytes);
  const softcuda::HeapHead& heap() const { return *reinterpret_cast<softcuda::HeapHead*>(&(*heap_)[0]); }

  /// The runtime block of the last launch.
  const softcuda::RuntimeBlock& runtime() { return (*runtime_)[0]; }
  /// The printf records of the last launch, formatted for %d, %u, %s, %f, %c, %lld only.
  std::string printed();

 private:
  softcuda::TranslatedModule translated_;
  std::uint32_t stack_bytes_ = 4096;
  cl_program program_ = nullptr;
  std::map<std::string, cl_kernel> kernels_;
  std::unique_ptr<Memory<std::byte>> data_;
  std::unique_ptr<Memory<softcuda::RuntimeBlock>> runtime_;
  std::unique_ptr<Memory<std::byte>> ring_;
  std::unique_ptr<Memory<std::byte>> scratch_;
  std::unique_ptr<Memory<std::uint32_t>> flags_;
  std::unique_ptr<Memory<std::byte>> heap_;
};

}  // namespace fairgv::ptx_test
