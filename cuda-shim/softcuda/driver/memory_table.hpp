// Every range of memory that the driver knows: what was allocated, registered, or belongs to a module's
// variables. It answers what an address is, and whether a range lies within one allocation, which copies and
// memsets ask before they touch anything. Any thread may call.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "cuda.hpp"
#include "opencl_device.hpp"

namespace fairgv::softcuda {

enum class MemoryKind { device, managed, pooled, host, registered, variable };

/// Immutable once it is in the table, but for what is said to change.
struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;  // bytes, as asked for
  MemoryKind kind = MemoryKind::device;
  unsigned flags = 0;           // of the call that made it
  std::uint64_t buffer_id = 0;  // unique in this process (CU_POINTER_ATTRIBUTE_BUFFER_ID)
  CUcontext context = nullptr;  // a name only, never followed
  CUmemoryPool pool = nullptr;  // pooled: the same
  DeviceMemory memory;          // empty: the program's own memory, registered
  /// Set by the first cuMemFreeAsync: exchanged with acq_rel, so that a second one sees it.
  std::atomic<bool> freed{false};
  /// CU_POINTER_ATTRIBUTE_SYNC_MEMOPS; relaxed, for it is only told.
  std::atomic<bool> sync_memops{false};

  bool is_host() const { return kind == MemoryKind::host || kind == MemoryKind::registered; }
};

class MemoryTable {
 public:
  explicit MemoryTable(const OpenClDevice& device) : device_(device) {}

  /// Makes memory of the device. Null: the device has no more of it.
  std::shared_ptr<Allocation> allocate(std::uint64_t size, MemoryKind kind, CUcontext context, unsigned flags,
                                       CUmemoryPool pool = nullptr);
  /// Enters a range of the program's own memory. Null: it overlaps what is known already.
  std::shared_ptr<Allocation> enter(std::uint64_t begin, std::uint64_t size, CUcontext context,
                                    unsigned flags);

  /// The allocation that holds the address. Null: none does.
  std::shared_ptr<Allocation> find(std::uint64_t address) const;
  /// The allocation that begins there. Null: none does.
  std::shared_ptr<Allocation> find_begin(std::uint64_t address) const;
  /// True: [address, address + size) lies in one allocation. No size lies anywhere.
  bool covers(std::uint64_t address, std::uint64_t size) const;

  /// Its memory goes when the last share of it does.
  void remove(const Allocation& allocation);
  void remove_all_of(CUcontext context);

  /// Bytes.
  std::uint64_t total() const { return device_.facts().global_memory; }
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  void removed(const Allocation& allocation);

  const OpenClDevice& device_;
  mutable std::shared_mutex lock_;
  std::map<std::uint64_t, std::shared_ptr<Allocation>> ranges_;
  std::uint64_t next_id_ = 1;
  /// A counter of its own: relaxed, for it orders nothing.
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace fairgv::softcuda
