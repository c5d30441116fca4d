// A conditional handle: a word that kernels set and conditional nodes read (CUDA Driver API,
// "cuGraphConditionalHandleCreate"). It is pinned memory, and the handle is its address on the device:
// kernels store there (softcuda/translate/device_library.cpp, "cudaGraphSetConditional"), and the program's
// side reads it once they have ended.
//
// Kernels have the handle among their parameters, so each handle has one word, whatever executable graphs
// there are. Launches that have a word in common therefore run one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/api/scheduler.hpp"

namespace fairgv::cuda {

class Context;
class Driver;
class Graph;

class Condition {
 public:
  /// `default_value`: what every launch of the graph sets it to; nothing: it keeps its value.
  static CUresult make(Driver& driver, Context& context, const std::shared_ptr<Graph>& graph,
                       std::optional<std::uint32_t> default_value, std::shared_ptr<Condition>& condition);
  Condition(Driver& driver, std::shared_ptr<Allocation> word, std::weak_ptr<Graph> graph,
            std::optional<std::uint32_t> default_value);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  CUgraphConditionalHandle handle() const { return word_->begin_on_device; }
  CUcontext owner() const { return word_->context; }
  /// The graph that it was made for; null: that is gone.
  std::shared_ptr<Graph> graph() const { return graph_.lock(); }
  /// Valid once the kernels that set it have ended, and have been seen to end.
  std::uint32_t value() const;

  /// Puts the default value, if there is one, into the stream.
  CUresult assign_default(Driver& driver, const std::shared_ptr<Stream>& stream) const;

  /// Held while a launch is put into a stream; several are taken in the order of their addresses.
  std::mutex lock;
  /// The end of the last launch. Guarded by `lock`.
  std::shared_ptr<Operation> last_launch;
  /// A node has it. Guarded by the lock of the graphs.
  bool is_used = false;

 private:
  Driver& driver_;
  const std::shared_ptr<Allocation> word_;
  const std::weak_ptr<Graph> graph_;
  const std::optional<std::uint32_t> default_;
};

}  // namespace fairgv::cuda
