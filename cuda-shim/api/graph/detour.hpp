// Copies of a graph from and to the program's own memory. Such memory is read and written when the copy's
// turn comes, which may be long after the launch; a copy in a stream reads it at once. So the bytes go
// through pinned memory, and a function of the host, in the stream's order, moves them between there and the
// program's memory.
#pragma once

#include <memory>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/memory/copy.hpp"

namespace fairgv::cuda {

/// Pinned memory for one copy of an executable graph: made at the first launch that needs it, and used by
/// each. It may go when the launches have ended. A copy of this object has the same memory.
class Detour {
 public:
  /// To be called before copy(). CUDA_ERROR_OUT_OF_MEMORY: there is no pinned memory for it.
  CUresult prepare(Driver& driver, Context& context, const Place& to, const Place& from,
                   const Extent& extent);
  /// Queues a copy, through the pinned memory if need be.
  CUresult copy(Driver& driver, const std::shared_ptr<Stream>& stream, const Place& to, const Place& from,
                const Extent& extent) const;
  /// No launch has needed the detour.
  bool is_empty() const { return memory_ == nullptr; }

 private:
  struct Memory;
  std::shared_ptr<Memory> memory_;
};

}  // namespace fairgv::cuda
