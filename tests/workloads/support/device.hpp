#pragma once
// One chosen OpenCL device and a context on it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/workloads/support/cl.hpp"

namespace workloads {

class Device {
 public:
  /// Opens the device that `platform` and `device` name, each an index or part of a name in any case.
  /// Throws BadInput when nothing matches, ClError when OpenCL fails.
  Device(const std::string& platform, const std::string& device);

  const std::string& platform_name() const { return platform_name_; }
  const std::string& device_name() const { return device_name_; }
  cl_context context() const { return context_.get(); }
  cl_device_id id() const { return device_; }

  /// Builds OpenCL C source; on failure the ClError carries the build log.
  Program build(const std::string& source);

  /// Builds the latest source anew, with another comment at its end, so that no cache knows it.
  Program rebuild();

  /// How long the latest clBuildProgram took; a driver with a cache may have had little to do.
  std::chrono::duration<double, std::milli> build_time() const { return build_time_; }

  Kernel kernel(const Program& program, const char* name) const;

  /// A buffer of `count` elements with unspecified content.
  template <typename Element>
  Buffer buffer(std::size_t count) const {
    return allocate(CL_MEM_READ_WRITE, count * sizeof(Element), nullptr);
  }

  /// A buffer that starts as a copy of `content`.
  template <typename Element>
  Buffer upload(const std::vector<Element>& content) const {
    // The API takes the host pointer as non-const; CL_MEM_COPY_HOST_PTR only reads it.
    return allocate(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, content.size() * sizeof(Element),
                    const_cast<Element*>(content.data()));
  }

 private:
  Program compile(const std::string& source);
  Buffer allocate(cl_mem_flags flags, std::size_t bytes, void* content) const;

  cl_platform_id platform_ = nullptr;
  cl_device_id device_ = nullptr;
  std::string platform_name_;
  std::string device_name_;
  Context context_;
  std::string source_;  // of the latest build()
  std::uint64_t rebuilt_ = 0;
  std::chrono::duration<double, std::milli> build_time_{0};
};

}  // namespace workloads
