#include "runtime/vgpu/memory/memory_account.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "runtime/wire/calls/memory.hpp"

namespace fairgv::vgpu {

using Kind = session::LedgerRequest::Kind;

bool MemoryCharge::release() {
  other_ = {};
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
  const std::uint64_t granted =
      take_withheld(devices, bytes) ? bytes : ledger_({Kind::charge, devices, bytes, more}).bytes;
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
  to_daemon(devices, bytes);
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
    const std::uint64_t free = headroom_.least(device) + withheld_.least(device);
    least = std::min(least, ungranted + std::min(free, kMost - ungranted));
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
  } else if (!take_withheld(devices, bytes) &&
             ledger_({Kind::charge, devices, bytes, bytes}).bytes != bytes) {
    return std::optional<MemoryCharge>();
  }
  charge.account_ = this;
  charge.devices_ = devices;
  charge.bytes_ = bytes;
  if (residencies_ != nullptr) charge.stays(OtherMemory(*residencies_, devices, bytes));
  return std::optional(std::move(charge));
}

Result<void> MemoryAccount::inherit(std::span<const std::uint64_t> granted, bool changes) {
  inherited_.resize(devices_);
  for (std::uint32_t device = 0; device < std::min(granted.size(), devices_); ++device) {
    const std::uint64_t set = std::uint64_t{1} << device;
    const std::uint64_t before = std::exchange(inherited_[device], granted[device]);
    const std::uint64_t fewer = before - std::min(before, granted[device]);
    if (fewer > headroom_.least(set))
      return Error{"it holds more device memory here than the worker before it, which gave some back"};
    headroom_.take(set, fewer);
    headroom_.add(set, granted[device] - std::min(before, granted[device]));
  }
  keeps_freed_ = changes;
  return {};
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
  if (keeps_freed_) {
    headroom_.add(devices, bytes);
    return false;
  }
  const std::uint64_t there = headroom_.most(devices);
  if (charge.front_end_hears_ && there <= kept_ && bytes <= kept_ - there) {
    headroom_.add(devices, bytes);
    return true;
  }
  to_daemon(devices, bytes);
  return false;
}

void MemoryAccount::to_daemon(std::uint64_t devices, std::uint64_t bytes) {
  if (withholds_) return withheld_.add(devices, bytes);
  ledger_({Kind::give_back, devices, bytes, 0});
}

bool MemoryAccount::take_withheld(std::uint64_t devices, std::uint64_t bytes) {
  if (bytes == 0 || withheld_.least(devices) < bytes) return false;
  withheld_.take(devices, bytes);
  return true;
}

void MemoryAccount::withhold(bool withholds) {
  withholds_ = withholds;
  if (withholds) return;
  for (std::uint32_t device = 0; device < devices_; ++device) {
    const std::uint64_t set = std::uint64_t{1} << device;
    const std::uint64_t bytes = withheld_.least(set);
    withheld_.take(set, bytes);
    if (bytes > 0) to_daemon(set, bytes);
  }
}

}  // namespace fairgv::vgpu
