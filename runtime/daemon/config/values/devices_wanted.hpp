// The devices that the programs of a tenant may use, as the configuration says (`devices` in [tenants],
// [class] and [tenant]), in the texts that people write:
//
//   all             every device that their workers see
//   best            of each platform one, the one where the tenant's share is largest
//   0,2-3           these, by their numbers in `fairgv ps`
//   best:0,2-3      the best of these
//
// Pure logic.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/result.hpp"

namespace fairgv::daemon {

/// Sets of the host's devices, a bit each.
inline constexpr std::uint64_t kEveryDevice = ~std::uint64_t{0};

struct DevicesWanted {
  bool best = false;
  std::uint64_t devices = kEveryDevice;

  /// Whether nothing is chosen.
  bool all() const { return !best && devices == kEveryDevice; }
  bool may_be(std::uint32_t device) const { return (devices >> device & 1U) != 0; }

  friend bool operator==(const DevicesWanted&, const DevicesWanted&) = default;
};

/// An Error that says what may be written instead.
Result<DevicesWanted> parse_devices_wanted(const std::string& text);
/// The shortest text that is read as the same.
std::string to_text(const DevicesWanted& wanted);
/// "0,2-3"; "none" if it is empty.
std::string device_list(std::uint64_t devices);

}  // namespace fairgv::daemon
