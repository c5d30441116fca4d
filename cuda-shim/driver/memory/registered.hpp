// Registered memory is the program's own, and the worker does not see it. Once a program asks for its address
// for kernels, the worker has memory of the same size in that context, and both mirror each other
// (mirrors.hpp). From then on copies and fills by the program's address are the worker's, too, so that they
// keep the order of their stream.
#pragma once

#include <memory>

#include "cuda-shim/api/memory/copy.hpp"
#include "cuda-shim/api/memory/storage.hpp"
#include "cuda-shim/driver/memory/mirrors.hpp"
#include "cuda-shim/driver/scheduler.hpp"

namespace fairgv::cuda::remote {

/// The worker's memory, and its mirroring.
class MirroredStorage final : public Storage {
 public:
  MirroredStorage(Scheduler& scheduler, std::shared_ptr<StreamGroup> group, std::uint64_t address,
                  std::unique_ptr<Storage> memory)
      : scheduler_(scheduler), group_(std::move(group)), address_(address), memory_(std::move(memory)) {}
  ~MirroredStorage() override { stop(); }

  /// Waits for work that may use the memory, and brings back what it has written.
  void retire() override {
    scheduler_.synchronize(*group_);
    stop();
  }

 private:
  void stop() { group_->connection().mirrors().remove(address_); }

  Scheduler& scheduler_;
  const std::shared_ptr<StreamGroup> group_;
  const std::uint64_t address_;
  const std::unique_ptr<Storage> memory_;
};

/// The memory that kernels of the stream's context have for registered memory. Null: none, or the memory is
/// not registered.
std::shared_ptr<Allocation> mapped_for(const cuda::Stream& stream, const Allocation* registered);

/// Names a side of a copy by the worker's memory, if kernels of the stream's context have that side's
/// registered memory. If only kernels of other contexts have it, or only a part of it, the stream is waited
/// for, so that the program's own bytes, which are copied then, are up to date.
CUresult settle_registered(Scheduler& scheduler, const std::shared_ptr<cuda::Stream>& stream,
                           const Extent& extent, Place& place);

}  // namespace fairgv::cuda::remote
