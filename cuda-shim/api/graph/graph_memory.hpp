// Memory of allocation nodes (CUDA Driver API, "cuGraphAddMemAllocNode"). It is made with the node, so that
// its address is known, and stays for all launches of the graphs that have the node. A launch only marks it
// as allocated or freed, in the order in which launches are queued.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

class Context;
class Driver;
struct Allocation;

/// The part of each device's memory that graphs have (cuDeviceGetGraphMemAttribute).
class GraphMemoryBooks {
 public:
  explicit GraphMemoryBooks(int devices) : devices_(static_cast<std::size_t>(devices)) {}
  void charge(CUdevice device, std::uint64_t bytes);
  void discharge(CUdevice device, std::uint64_t bytes);
  CUresult attribute(CUdevice device, CUgraphMem_attribute which, std::uint64_t& value) const;
  /// Only the high marks, and only to 0, which is the present value.
  CUresult reset(CUdevice device, CUgraphMem_attribute which);

 private:
  struct Books {
    std::uint64_t used = 0, high = 0;
  };
  mutable std::mutex lock_;  // guards the books
  std::vector<Books> devices_;
};

/// Shared by the copies of a node. With the last one the memory goes; if the program has it at that time, it
/// becomes memory like other memory.
class GraphMemory {
 public:
  static CUresult make(Driver& driver, Context& context, const CUDA_MEM_ALLOC_NODE_PARAMS& parameters,
                       std::shared_ptr<GraphMemory>& memory);
  GraphMemory(Driver& driver, std::shared_ptr<Allocation> allocation,
              const CUDA_MEM_ALLOC_NODE_PARAMS& parameters);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  const CUDA_MEM_ALLOC_NODE_PARAMS& parameters() const { return parameters_; }
  /// A launch has allocated it, and nothing has freed it since.
  bool is_live() const;
  void allocate();

 private:
  Driver& driver_;
  const std::shared_ptr<Allocation> allocation_;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters_;
};

}  // namespace fairgv::cuda
