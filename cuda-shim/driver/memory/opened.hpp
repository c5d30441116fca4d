// Memory of other processes, which the worker opens.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda-shim/api/memory/sharing.hpp"
#include "cuda-shim/api/memory/storage.hpp"
#include "cuda-shim/driver/memory/reservation.hpp"

namespace fairgv::cuda::remote {

class Connection;
class StreamGroup;

/// Has the worker close it. Keeps its context.
class OpenedStorage final : public Storage {
 public:
  OpenedStorage(std::shared_ptr<StreamGroup> group, std::uint64_t address);
  ~OpenedStorage() override;
  /// Reserves its addresses in this process. False: this process uses them.
  bool reserve(std::uint64_t size);

 private:
  const std::shared_ptr<StreamGroup> group_;
  const std::uint64_t address_;
  Reservation reservation_;
};

class Sharing final : public MemorySharing {
 public:
  explicit Sharing(Connection& connection) : connection_(connection) {}
  CUresult export_memory(const Allocation& allocation, CUipcMemHandle& handle) override;
  CUresult open_exported(Context& context, const CUipcMemHandle& handle, Allocation& opened) override;

 private:
  Connection& connection_;
};

}  // namespace fairgv::cuda::remote
