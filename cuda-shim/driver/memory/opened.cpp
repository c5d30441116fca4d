#include "cuda-shim/driver/memory/opened.hpp"

#include <cstring>
#include <utility>

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/driver/connection.hpp"
#include "cuda-shim/driver/scheduler.hpp"

namespace fairgv::cuda::remote {

OpenedStorage::OpenedStorage(std::shared_ptr<StreamGroup> group, std::uint64_t address)
    : group_(std::move(group)), address_(address) {}

OpenedStorage::~OpenedStorage() {
  group_->connection().send(wire::cuda::CloseMemory{address_});
}

bool OpenedStorage::reserve(std::uint64_t size) {
  auto reservation = Reservation::make(address_, size);
  if (reservation) reservation_ = std::move(*reservation);
  return reservation.has_value();
}

CUresult Sharing::export_memory(const Allocation& allocation, CUipcMemHandle& handle) {
  const auto reply = connection_.call(wire::cuda::ExportMemory{allocation.begin});
  if (!reply) return connection_.fault();
  static_assert(sizeof handle.reserved == std::tuple_size_v<wire::cuda::IpcHandle>);
  std::memcpy(handle.reserved, reply->handle.data(), sizeof handle.reserved);
  return static_cast<CUresult>(reply->code);
}

CUresult Sharing::open_exported(Context& context, const CUipcMemHandle& handle, Allocation& opened) {
  const auto group = workers(context.group());
  wire::cuda::OpenMemory call{group->context(), {}};
  std::memcpy(call.handle.data(), handle.reserved, sizeof handle.reserved);
  const auto reply = connection_.call(call);
  if (!reply) return connection_.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  auto storage = std::make_unique<OpenedStorage>(group, reply->address);
  // The driver would give the same address again.
  if (!storage->reserve(reply->bytes)) {
    say_addresses_taken(reply->address);
    return CUDA_ERROR_MAP_FAILED;
  }
  opened.begin = reply->address;
  opened.begin_on_device = reply->address;
  opened.size = reply->bytes;
  opened.storage = std::move(storage);
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::remote
