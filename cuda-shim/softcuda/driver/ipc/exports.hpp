// Memory that this process lends to others, and memory that others lend to it.
//
// The memory becomes a memory file in place when it is first exported, and the 64 bytes of a handle are a
// ticket for that file (runtime/base/exchange). The file lives until the last process has let go of it,
// whoever that is.
#pragma once

#include <memory>
#include <mutex>

#include "cuda-shim/api/memory/sharing.hpp"
#include "runtime/base/exchange/exchange.hpp"

namespace fairgv::cuda::soft {

class Engine;

/// Any thread may call.
class Exports final : public MemorySharing {
 public:
  explicit Exports(Engine& engine) : engine_(engine) {}

  CUresult export_memory(const Allocation& allocation, CUipcMemHandle& handle) override;
  CUresult open_exported(Context& context, const CUipcMemHandle& handle, Allocation& opened) override;
  /// The process ends.
  void stop();

 private:
  /// With the lock. Null: processes cannot meet; a line has said why.
  std::shared_ptr<Exchange> exchange();

  Engine& engine_;
  std::mutex lock_;  // guards what follows
  std::shared_ptr<Exchange> exchange_;
  bool is_told_ = false;
};

}  // namespace fairgv::cuda::soft
