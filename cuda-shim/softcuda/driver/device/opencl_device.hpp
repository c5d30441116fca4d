// The OpenCL device beneath: its choice, and the few OpenCL calls that the driver needs.
//
// A CUdeviceptr is a plain address here, in host code and in kernels, so the device must see one flat address
// space: a CPU device with fine-grained shared virtual memory, whose kernels are tried once (a probe kernel
// turns addresses of global and local memory into numbers and back). A device that fails this test is
// refused.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::cuda::soft {

/// Facts, fetched once.
struct DeviceFacts {
  std::string name, version, driver_version, platform_name;
  std::uint64_t global_memory = 0;       // bytes
  std::uint64_t largest_allocation = 0;  // bytes
  std::uint64_t local_memory = 0;        // bytes per block
  std::uint32_t compute_units = 0;
  std::uint32_t clock_mhz = 0;
  std::uint64_t largest_block = 0;  // threads
  std::uint64_t largest_block_side[3] = {};
  std::uint64_t cache_bytes = 0;
  bool has_native_kernels = false;  // host functions in its queues
};

class OpenClDevice;

/// Memory at an address that host code and kernels share, aligned to 512 bytes, not initialised. Owns it.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Of OpenCL.
  DeviceMemory(cl_context context, void* whole, std::byte* begin)
      : context_(context), whole_(whole), begin_(begin) {}
  /// Of the process's window. `own_pages`: bytes in whole pages that nothing else uses, or 0.
  DeviceMemory(std::byte* begin, std::size_t taken, std::size_t own_pages)
      : begin_(begin), taken_(taken), own_pages_(own_pages) {}
  DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceMemory();
  explicit operator bool() const { return begin_ != nullptr; }
  std::byte* data() const { return begin_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(begin_); }

  /// Puts a memory file with the same `used` bytes in the place of its pages, so that other processes can
  /// have them. The file's size is sealed. Nobody may write meanwhile. Once only.
  Result<UniqueFd> share(std::size_t used);

 private:
  void swap(DeviceMemory& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(whole_, other.whole_);
    std::swap(begin_, other.begin_);
    std::swap(taken_, other.taken_);
    std::swap(own_pages_, other.own_pages_);
    std::swap(is_shared_, other.is_shared_);
  }
  cl_context context_ = nullptr;
  void* whole_ = nullptr;  // OpenCL's allocation: begin_ is its first well aligned byte
  std::byte* begin_ = nullptr;
  std::size_t taken_ = 0;  // bytes of the window, or 0
  std::size_t own_pages_ = 0;
  bool is_shared_ = false;
};

class OpenClDevice {
 public:
  /// The first suitable device, of the platform whose name contains FAIRGV_SOFTCUDA_PLATFORM if that is set.
  /// FairGV's own platform is passed over: its memory is another process's.
  static Result<std::unique_ptr<OpenClDevice>> open();
  OpenClDevice(cl_platform_id platform, cl_device_id device, cl_context context);
  ~OpenClDevice();
  OpenClDevice(const OpenClDevice&) = delete;
  OpenClDevice& operator=(const OpenClDevice&) = delete;

  const DeviceFacts& facts() const { return facts_; }
  cl_device_id device() const { return device_; }
  cl_context context() const { return context_; }
  /// The calling thread's in-order queue; it lives as long as the thread. Null: it cannot be made.
  cl_command_queue queue() const;
  /// Another in-order queue, a cl_command_queue; null: it cannot be made. Not released in a forked child,
  /// where OpenCL's threads are not.
  std::shared_ptr<void> make_queue() const;
  /// From now on queues are not released when their threads end: OpenCL is about to end, with the process.
  static void abandon_queues();

  /// The driver's own memory, whose address no program knows. Empty: there is none.
  DeviceMemory allocate(std::size_t size) const;
  /// Memory whose address programs and kernels may keep: it lies in the AddressWindow, where the thread wants
  /// its next memory to be. Empty: there is none. `in_own_pages`: it may be shared later.
  DeviceMemory allocate_for_programs(std::size_t size, bool in_own_pages = false) const;

 private:
  void release_queue() const;

  const cl_device_id device_;
  const cl_context context_;
  DeviceFacts facts_;
};

/// An owned cl_program.
struct ProgramRelease {
  void operator()(cl_program program) const { clReleaseProgram(program); }
};
using ProgramPtr = std::unique_ptr<std::remove_pointer_t<cl_program>, ProgramRelease>;

/// Builds from source, through the cache of compiled kernels. The error is the compiler's log.
Result<ProgramPtr> build_program(const OpenClDevice& device, const std::string& source,
                                 const std::string& options);

}  // namespace fairgv::cuda::soft
