#include "runtime/vgpu/memory/memory_account.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "runtime/wire/calls/memory.hpp"

namespace fairgv::vgpu {

using Kind = session::LedgerRequest::Kind;

bool MemoryCharge::release() {
  if (account_ == nullptr) return false;
  return std::exchange(account_, nullptr)->release(*this);
}

void MemoryCharge::expect() {
  if (account_ == nullptr || std::exchange(is_expected_, true)) return;
  account_->expected_.add(devices_, bytes_);
}

bool MemoryAccount::exist(std::uint64_t devices) const {
  return devices != 0 && static_cast<std::size_t>(std::bit_width(devices)) <= devices_;
}

Result<std::uint64_t> MemoryAccount::reserve(std::uint64_t devices, std::uint64_t bytes,
                                             std::uint64_t headroom) {
  if (!exist(devices)) return Error{"devices that there are not"};
  front_end_reserves_ = true;
  kept_ = std::min(std::max(kept_, 2 * std::min(headroom, wire::kMostHeadroom)), wire::kMostHeadroom);
  std::uint64_t more = 0;
  if (__builtin_add_overflow(bytes, headroom, &more)) return std::uint64_t{0};
  const std::uint64_t granted = ledger_({Kind::charge, devices, bytes, more}).bytes;
  headroom_.add(devices, granted);
  return granted;
}

Result<void> MemoryAccount::give_back(std::uint64_t devices, std::uint64_t bytes) {
  if (!exist(devices)) return Error{"devices that there are not"};
  if (bytes == 0 || bytes > headroom_.least(devices)) {
    return Error{
        fmt::format("{} bytes of memory given back, {} granted and free", bytes, headroom_.least(devices))};
  }
  headroom_.take(devices, bytes);
  ledger_({Kind::give_back, devices, bytes, 0});
  return {};
}

Result<std::uint64_t> MemoryAccount::left(std::uint32_t device) {
  if (device >= devices_) return Error{"a device that there is not"};
  return least_left(std::uint64_t{1} << device);
}

std::uint64_t MemoryAccount::least_left(std::uint64_t devices) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t least = kMost;
  for (; devices != 0; devices &= devices - 1) {
    const std::uint64_t device = devices & -devices;
    const std::uint64_t ungranted = ledger_({Kind::look, device, 0, 0}).bytes;
    least = std::min(least, ungranted + std::min(headroom_.least(device), kMost - ungranted));
  }
  return least;
}

Result<std::optional<MemoryCharge>> MemoryAccount::charge(std::uint64_t devices, std::uint64_t bytes,
                                                          bool front_end_hears) {
  MemoryCharge charge;
  if (bytes == 0) return std::optional(std::move(charge));
  if (headroom_.least(devices) >= bytes) {
    headroom_.take(devices, bytes);
    charge.front_end_hears_ = front_end_hears;
  } else if (front_end_reserves_) {
    return Error{
        fmt::format("an object of {} bytes, and {} granted and free", bytes, headroom_.least(devices))};
  } else if (ledger_({Kind::charge, devices, bytes, bytes}).bytes != bytes) {
    return std::optional<MemoryCharge>();
  }
  charge.account_ = this;
  charge.devices_ = devices;
  charge.bytes_ = bytes;
  return std::optional(std::move(charge));
}

bool MemoryAccount::release(const MemoryCharge& charge) {
  ++released_;
  if (charge.is_expected_) expected_.take(charge.devices_, charge.bytes_);
  const bool is_headroom = take_back(charge);
  if (heard_) heard_(charge.devices_, charge.bytes_);
  return is_headroom;
}

bool MemoryAccount::take_back(const MemoryCharge& charge) {
  const auto [devices, bytes] = std::pair(charge.devices_, charge.bytes_);
  const std::uint64_t there = headroom_.most(devices);
  if (charge.front_end_hears_ && there <= kept_ && bytes <= kept_ - there) {
    headroom_.add(devices, bytes);
    return true;
  }
  ledger_({Kind::give_back, devices, bytes, 0});
  return false;
}

}  // namespace fairgv::vgpu
