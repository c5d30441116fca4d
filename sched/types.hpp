// The types that the whole scheduler shares: the billed tenant, the unit of time, the weight.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace fairgv::sched {

// A tenant: the unit that is scheduled and billed (its sessions share its turns). The owner of the tenants
// chooses the numbers; they need not be dense.
struct TenantId {
  std::uint32_t value = 0;
  friend auto operator<=>(const TenantId&, const TenantId&) = default;
};

// Device time. Always measured by the caller on a monotonic clock: nothing in this room reads one.
using Duration = std::chrono::nanoseconds;

// A tenant's weight is its relative entitlement to device time: 2 gets twice what 1 gets.
inline constexpr std::uint32_t kMinWeight = 1;
inline constexpr std::uint32_t kMaxWeight = 10'000;
inline constexpr std::uint32_t kDefaultWeight = 1;

constexpr bool is_valid_weight(std::uint64_t weight) {
  return weight >= kMinWeight && weight <= kMaxWeight;
}

}  // namespace fairgv::sched

template <>
struct std::hash<fairgv::sched::TenantId> {
  std::size_t operator()(fairgv::sched::TenantId id) const noexcept { return id.value; }
};
