// Shared virtual memory of a context: buffers in the session's arena that the application and kernels reach
// by the same pointers (OpenCL 3.0, 5.6).
//
// This needs devices that share memory with the host, and an arena at the same address in this process and in
// its worker. An allocation is a direct buffer of which the application has the address instead of a handle:
// commands on the memory are commands on that buffer. Any thread may call anything here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "icd/objects/object.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::icd {

class Context;
class Memory;

/// The capabilities that all devices of the context have (CL_DEVICE_SVM_*); 0: no shared virtual memory.
cl_device_svm_capabilities svm_capabilities(const Context& context);

/// The allocations of one context. Each keeps its context alive until it is freed.
class SvmAllocations {
 public:
  /// A byte of an allocation.
  struct Place {
    Ref<Memory> memory;  // empty: the address lies in no allocation
    std::uint64_t offset = 0;

    explicit operator bool() const { return static_cast<bool>(memory); }
  };

  SvmAllocations();
  ~SvmAllocations();

  /// Takes over a direct buffer that has no other owner; returns its address.
  void* add(Ref<Memory> buffer);

  /// Frees the allocation that begins at `pointer`, if there is one. Commands under way and buffers over the
  /// allocation keep the memory.
  void free(const void* pointer);

  Place find(const void* address) const;

  /// Where in the arena `bytes` bytes from `address` lie, if they are all of one allocation.
  std::optional<wire::ArenaRange> range(const void* address, std::uint64_t bytes) const;

 private:
  std::atomic<std::size_t> count_{0};
  mutable std::mutex mutex_;                        // guards the members below
  std::map<std::uintptr_t, Ref<Memory>> by_begin_;  // by the address of the first byte
};

}  // namespace fairgv::icd
