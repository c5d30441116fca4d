#include "runtime/daemon/config/values/devices_wanted.hpp"

#include <bit>
#include <optional>

#include "runtime/base/core_set.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::daemon {
namespace {

constexpr const char* kBestOf = "best:";

/// Lists of devices are written as the kernel writes lists of cores.
std::optional<std::uint64_t> devices_in(const std::string& list) {
  const auto set = parse_core_set(list);
  if (!set) return std::nullopt;
  std::uint64_t devices = 0;
  for (std::uint32_t i = 0; i < session::kMaxDevices; ++i) {
    if (CPU_ISSET(i, &set.value())) devices |= std::uint64_t{1} << i;
  }
  if (std::popcount(devices) != CPU_COUNT(&set.value())) return std::nullopt;
  return devices;
}

}  // namespace

Result<DevicesWanted> parse_devices_wanted(const std::string& text) {
  if (text == "all") return DevicesWanted{};
  if (text == "best") return DevicesWanted{.best = true};
  const bool best = text.starts_with(kBestOf);
  const auto devices = devices_in(best ? text.substr(std::string(kBestOf).size()) : text);
  if (devices) return DevicesWanted{best, *devices};
  return Error{"it is '" + text + "': say all, best, numbers of devices from 0 to " +
               std::to_string(session::kMaxDevices - 1) + " as 0,2-3, or best:0,2-3"};
}

std::string device_list(std::uint64_t devices) {
  std::string text;
  for (std::uint32_t first = 0; first < 64; ++first) {
    if ((devices >> first & 1U) == 0) continue;
    std::uint32_t last = first;
    while (last < 63 && (devices >> (last + 1) & 1U) != 0) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (last > first) text += (last == first + 1 ? "," : "-") + std::to_string(last);
    first = last;
  }
  return text.empty() ? "none" : text;
}

std::string to_text(const DevicesWanted& wanted) {
  if (wanted.devices == kEveryDevice) return wanted.best ? "best" : "all";
  return (wanted.best ? kBestOf : "") + device_list(wanted.devices);
}

}  // namespace fairgv::daemon
