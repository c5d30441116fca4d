#include "cuda-shim/driver/memory/worker_address_space.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "cuda-shim/driver/engine.hpp"

namespace fairgv::cuda::remote {
namespace {

/// How many ranges are given up, because this program has memory of its own there, before a request fails.
constexpr std::size_t kMostRefusals = 32;

/// Physical memory of the worker's, by its number.
class PhysicalStorage final : public Storage {
 public:
  PhysicalStorage(Connection& connection, std::uint64_t number) : connection_(connection), number_(number) {}
  ~PhysicalStorage() override { connection_.send(wire::cuda::ReleasePhysical{number_}); }

  std::uint64_t number() const { return number_; }

 private:
  Connection& connection_;
  const std::uint64_t number_;
};

struct Range {
  std::uint64_t address, size;
};

}  // namespace

template <class Call>
CUresult WorkerAddressSpace::ask(const Call& call) {
  const auto reply = engine_.connection.call(call);
  return reply ? static_cast<CUresult>(reply->code) : engine_.connection.fault();
}

CUresult WorkerAddressSpace::granularity(CUdevice device, CUmemAllocationGranularity_flags which,
                                         std::uint64_t& bytes) {
  const std::uint64_t key = static_cast<std::uint64_t>(device) * 2 + static_cast<std::uint64_t>(which);
  if (const auto known = granularity_.find(key); known != granularity_.end()) {
    bytes = known->second;
    return CUDA_SUCCESS;
  }
  const auto reply = engine_.connection.call(wire::cuda::GetGranularity{workers_ordinal(device), which});
  if (!reply) return engine_.connection.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  bytes = reply->bytes;
  granularity_.emplace(key, bytes);
  return CUDA_SUCCESS;
}

CUresult WorkerAddressSpace::reserve(const RangeWish& wish, std::uint64_t& address) {
  // Kept meanwhile, or the driver would give the same range again.
  std::vector<Range> unusable;
  std::optional<Reservation> reservation;
  CUresult code = CUDA_SUCCESS;
  while (!reservation && unusable.size() < kMostRefusals) {
    // A hint at addresses that turned out to be the program's is of no use.
    const std::uint64_t wanted = unusable.empty() ? wish.address : 0;
    const auto reply = engine_.connection.call(wire::cuda::ReserveRange{wish.size, wish.alignment, wanted});
    code = reply ? static_cast<CUresult>(reply->code) : engine_.connection.fault();
    if (code != CUDA_SUCCESS) break;
    address = reply->address;
    reservation = Reservation::make(address, wish.size);
    if (!reservation) unusable.push_back({address, wish.size});
  }
  for (const Range& range : unusable) ask(wire::cuda::FreeRange{range.address, range.size});
  if (reservation) {
    reserved_.insert_or_assign(address, std::move(*reservation));
    return CUDA_SUCCESS;
  }
  if (unusable.empty()) return code;
  say_addresses_taken(unusable.back().address);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult WorkerAddressSpace::give_back(std::uint64_t address, std::uint64_t size) {
  const CUresult code = ask(wire::cuda::FreeRange{address, size});
  if (code == CUDA_SUCCESS) reserved_.erase(address);
  return code;
}

CUresult WorkerAddressSpace::make_physical(CUdevice device, std::uint64_t size,
                                           std::unique_ptr<Storage>& memory) {
  const auto reply = engine_.ask_for_memory(device, size, [&] {
    return engine_.connection.call(wire::cuda::CreatePhysical{workers_ordinal(device), size});
  });
  if (!reply) return engine_.connection.fault();
  if (reply->code != CUDA_SUCCESS) return static_cast<CUresult>(reply->code);
  memory = std::make_unique<PhysicalStorage>(engine_.connection, reply->number);
  return CUDA_SUCCESS;
}

CUresult WorkerAddressSpace::map(std::uint64_t address, std::uint64_t size, const Storage& memory) {
  return ask(wire::cuda::MapPhysical{static_cast<const PhysicalStorage&>(memory).number(), address, size});
}

CUresult WorkerAddressSpace::unmap(std::uint64_t address, std::uint64_t size) {
  return ask(wire::cuda::UnmapRange{address, size});
}

CUresult WorkerAddressSpace::set_access(std::uint64_t address, std::uint64_t size, CUdevice device,
                                        CUmemAccess_flags flags) {
  return ask(wire::cuda::SetAccess{address, size, workers_ordinal(device), flags});
}

}  // namespace fairgv::cuda::remote
