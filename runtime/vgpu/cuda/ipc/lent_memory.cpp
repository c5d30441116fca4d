#include "runtime/vgpu/cuda/ipc/lent_memory.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/objects.hpp"

namespace fairgv::vgpu::cuda {
namespace {

/// The 64 bytes that programs hand each other.
struct TicketHandle {
  std::array<char, 8> magic{};
  Ticket ticket;
  std::array<char, 24> unused{};
};
static_assert(sizeof(TicketHandle) == sizeof(wire::cuda::IpcHandle));
constexpr std::array<char, 8> kTicketMagic{'F', 'G', 'V', 'l', 'e', 'n', 't', '1'};

}  // namespace

CUresult LentMemory::lend(std::uint64_t address, wire::cuda::IpcHandle& handle) {
  if (driver_.cuIpcGetMemHandle == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  auto found = lent_.find(address);
  if (found == lent_.end()) {
    CUipcMemHandle of_driver{};
    if (const CUresult code = driver_.cuIpcGetMemHandle(&of_driver, address); code != CUDA_SUCCESS)
      return code;
    if (!exchange_) {
      auto opened = Exchange::open(Exchange::folder_of_environment(),
                                   [this] { let_go_.store(true, std::memory_order_release); });
      if (!opened) return CUDA_ERROR_NOT_SUPPORTED;
      exchange_ = std::move(opened).value();
    }
    const auto ticket = exchange_->offer(std::string(of_driver.reserved, sizeof of_driver.reserved), {});
    if (!ticket) return CUDA_ERROR_OPERATING_SYSTEM;
    found = lent_.emplace(address, ticket.value()).first;
  }
  handle = std::bit_cast<wire::cuda::IpcHandle>(TicketHandle{kTicketMagic, found->second, {}});
  return CUDA_SUCCESS;
}

void LentMemory::freed(std::uint64_t address, MemoryCharge charge) {
  const auto found = lent_.find(address);
  if (found == lent_.end()) return;
  const Ticket ticket = found->second;
  lent_.erase(found);
  // Only a ticket that is good for nothing any more has a last holder.
  exchange_->withdraw(ticket);
  if (exchange_->holders(ticket) != 0) kept_.push_back({ticket, std::move(charge)});
}

void LentMemory::settle() {
  if (kept_.empty() || !let_go_.exchange(false, std::memory_order_acquire)) return;
  std::erase_if(kept_, [this](const Kept& kept) { return exchange_->holders(kept.ticket) == 0; });
}

CUresult LentMemory::borrow(const std::shared_ptr<Context>& context, const wire::cuda::IpcHandle& handle,
                            std::uint64_t& address, std::uint64_t& bytes) {
  if (driver_.cuIpcOpenMemHandle == nullptr || driver_.cuIpcCloseMemHandle == nullptr)
    return CUDA_ERROR_NOT_SUPPORTED;
  const auto asked = std::bit_cast<TicketHandle>(handle);
  if (asked.magic != kTicketMagic) return CUDA_ERROR_INVALID_HANDLE;
  if (exchange_ && exchange_->is_own(asked.ticket)) return CUDA_ERROR_INVALID_CONTEXT;
  auto taken = Exchange::take(Exchange::folder_of_environment(), asked.ticket);
  CUipcMemHandle of_driver{};
  if (!taken || taken.value().text.size() != sizeof of_driver.reserved) return CUDA_ERROR_INVALID_HANDLE;
  std::memcpy(of_driver.reserved, taken.value().text.data(), sizeof of_driver.reserved);
  CUdeviceptr opened = 0;
  CUresult code = driver_.cuIpcOpenMemHandle(&opened, of_driver, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (code != CUDA_SUCCESS) return code;
  CUdeviceptr begin = 0;
  std::size_t size = 0;
  code = driver_.cuMemGetAddressRange(&begin, &size, opened);
  if (code != CUDA_SUCCESS || opened < begin || opened - begin >= size) {
    driver_.cuIpcCloseMemHandle(opened);
    return code != CUDA_SUCCESS ? code : CUDA_ERROR_MAP_FAILED;
  }
  address = opened;
  bytes = size - (opened - begin);
  borrowed_.emplace(opened, Borrowed{context, std::move(taken.value().hold)});
  return CUDA_SUCCESS;
}

bool LentMemory::give_back(std::uint64_t address) {
  const auto found = borrowed_.find(address);
  if (found == borrowed_.end()) return false;
  if (use(driver_, found->second.context->handle) == CUDA_SUCCESS) driver_.cuIpcCloseMemHandle(address);
  borrowed_.erase(found);
  return true;
}

}  // namespace fairgv::vgpu::cuda
