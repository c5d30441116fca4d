// Every range of memory that the driver knows: allocated, registered, or of a module's variables. The table
// tells the kind of an address, and whether a range lies within one allocation; copies and memsets check this
// before they touch memory. Any thread may call.
//
// Tried: oneTBB's concurrent_map. Reads are 1.4 times as fast, but no entry can be erased during a read, and
// every free erases.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/memory/storage.hpp"

namespace fairgv::cuda {

/// mapped: what kernels of a context have of registered memory, where they cannot use the program's own.
/// ranged: physical memory at reserved addresses (virtual/virtual_memory.hpp).
/// opened: another process' memory (opened.hpp).
enum class MemoryKind { device, managed, pooled, host, registered, mapped, variable, graph, ranged, opened };

/// The holder of memory of a graph's allocation node (graph/graph_memory.hpp): the graph alone; the program,
/// too, since a launch; the program alone, since the graph is gone; nobody.
enum class GraphHold { none, idle, live, orphan };

/// A command reads memory, or writes it.
enum class Use { read, write };

/// A request for memory.
struct MemoryWish {
  std::uint64_t size = 0;
  MemoryKind kind = MemoryKind::device;
  unsigned flags = 0;
  CUmemoryPool pool = nullptr;
  /// Not 0: rows of `width` bytes at a pitch that the engine chooses; `size` is then only a first guess.
  std::uint64_t rows = 0, width = 0;
  unsigned element_bytes = 0;
};

/// Immutable once it is in the table, but for the atomics.
struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;   // bytes, as asked for
  std::uint64_t pitch = 0;  // bytes, if rows were asked for
  MemoryKind kind = MemoryKind::device;
  unsigned flags = 0;           // of the call that made it
  std::uint64_t buffer_id = 0;  // unique in this process (CU_POINTER_ATTRIBUTE_BUFFER_ID)
  /// The device's address of the begin. 0: registered memory (memory/mapped.hpp).
  std::uint64_t begin_on_device = 0;
  std::uint64_t program_begin = 0;  // of mapped memory: the begin of the registered memory
  std::uint64_t range_begin = 0;    // of ranged memory: the reserved range around it
  std::uint64_t range_size = 0;
  std::uint64_t physical = 0;  // of ranged memory: the handle of what is mapped
  CUdevice device = 0;
  CUcontext context = nullptr;       // a name only, never followed; ranged memory has none
  CUmemoryPool pool = nullptr;       // of pooled memory: the same
  std::unique_ptr<Storage> storage;  // null: not ours: registered memory, variables
  std::uint64_t charged = 0;         // bytes in the table's books
  /// Set by the first cuMemFreeAsync: exchanged with acq_rel, so that a second call sees it.
  std::atomic<bool> freed{false};
  /// Of memory of a graph; others: none. Exchanged with acq_rel, so that each change of hands happens once.
  std::atomic<GraphHold> hold{GraphHold::none};
  /// CU_POINTER_ATTRIBUTE_SYNC_MEMOPS; relaxed, because it is only reported.
  std::atomic<bool> sync_memops{false};

  /// Of variables: the program may touch them (__managed__). Relaxed: it is only reported.
  std::atomic<bool> host_sees_it{false};
  /// Of ranged memory: what its device may do there. Relaxed: a program orders its calls itself.
  std::atomic<CUmemAccess_flags> access{CU_MEM_ACCESS_FLAGS_PROT_NONE};

  /// Memory of programs and kernels alike, at one address.
  bool is_managed() const {
    return kind == MemoryKind::managed || host_sees_it.load(std::memory_order_relaxed);
  }
  bool is_host() const {
    return kind == MemoryKind::host || kind == MemoryKind::registered || kind == MemoryKind::mapped;
  }
  bool allows(Use use) const {
    if (kind != MemoryKind::ranged) return true;
    const CUmemAccess_flags needed =
        use == Use::write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
    return (access.load(std::memory_order_relaxed) & needed) == needed;
  }
};

class MemoryTable {
 public:
  /// Counts memory that is about to be allocated, so that threads together cannot take more than the device
  /// has. False: the sum would exceed `most`, and nothing is counted.
  bool charge(std::uint64_t bytes, std::uint64_t most);
  void discharge(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  /// Enters an allocation that was charged and made.
  void add(const std::shared_ptr<Allocation>& allocation);
  /// Enters a range that is not ours (registered memory, a variable). Null: it overlaps a known range.
  std::shared_ptr<Allocation> enter(std::uint64_t begin, std::uint64_t size, MemoryKind kind,
                                    CUcontext context, CUdevice device, unsigned flags);

  /// The allocation that holds the address. Null: there is none.
  std::shared_ptr<Allocation> find(std::uint64_t address) const;
  /// The allocation that begins at the address. Null: there is none.
  std::shared_ptr<Allocation> find_begin(std::uint64_t address) const;
  /// The part of registered memory that kernels of the context have. Null: none.
  std::shared_ptr<Allocation> mapped(const Allocation& registered, CUcontext context) const;
  /// Whether kernels of any context have something of registered memory.
  bool is_mapped(const Allocation& registered) const;
  /// Enters mapped memory that was made, unless another thread was first. Returns what is in the table now.
  /// Null: the registered memory is not in the table any more.
  std::shared_ptr<Allocation> enter_mapped(const Allocation& registered,
                                           const std::shared_ptr<Allocation>& mapped);

  /// True: [address, address + size) lies in one allocation, or in mappings that adjoin each other and allow
  /// the use. An empty range lies anywhere.
  bool covers(std::uint64_t address, std::uint64_t size, Use use = Use::read) const;
  /// The same for a range that begins in this allocation.
  bool covers(const Allocation& first, std::uint64_t address, std::uint64_t size, Use use = Use::read) const {
    if (first.kind != MemoryKind::ranged) return size <= first.size - (address - first.begin);
    return covers(address, size, use);
  }

  /// The memory is freed with the allocation's last share. With registered memory goes what is mapped of it.
  void remove(const Allocation& allocation);
  void remove_all_of(CUcontext context);

  /// Bytes that were charged and not removed.
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  using Gone = std::vector<std::shared_ptr<Allocation>>;
  /// With the lock held.
  void take_out(const Allocation& allocation, Gone& gone);
  /// Without it.
  static void retire(const Gone& gone);

  mutable std::shared_mutex lock_;  // guards the members below
  std::map<std::uint64_t, std::shared_ptr<Allocation>> ranges_;
  /// By the begin of the registered memory, and the context.
  std::map<std::pair<std::uint64_t, CUcontext>, std::shared_ptr<Allocation>> mapped_;
  std::uint64_t next_id_ = 1;
  /// A counter: relaxed, because it orders nothing.
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace fairgv::cuda
