// The profile of a tenant that is to be placed on a device: Pegasus' domain profile (section 3.2). It has the
// tenant's credits (attributes), the memory that it needs, and the devices that suit it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sched/attributes.hpp"

namespace fairgv::sched {

struct TenantProfile {
  TenantAttributes attributes{};
  /// Bytes that the tenant is expected to need on a device; what it holds there counts if that is more.
  std::uint64_t memory = 0;
  /// Part of a device that the tenant has lately used, if that is known when it comes: it counts until the
  /// tenant is measured there. None: it may want all that it can have.
  std::optional<Share> use{};

  // -- the devices that suit it

  std::uint64_t types = ~std::uint64_t{0};  // a bit set, as DeviceProfile::type
  std::optional<std::uint32_t> platform{};  // none: any
  std::vector<std::uint32_t> devices{};     // empty: any
};

/// A tenant's use of one device, measured over a time that the caller chooses: a second in the daemon.
struct TenantUse {
  Share time{};              // of the device
  std::uint64_t memory = 0;  // bytes that it holds now
};

}  // namespace fairgv::sched
