#include "runtime/vgpu/issue/long_commands.hpp"

#include <algorithm>
#include <cstdint>

namespace fairgv::vgpu {

void LongCommands::held(wire::DeviceIndex device, std::string_view name, std::string_view reason,
                        sched::Duration time, Time now) {
  Entry& entry = entry_of(device, known_name(name));
  const auto length = static_cast<std::uint64_t>(std::max(time, sched::Duration{0}).count());
  entry.command.reason = reason.substr(0, session::kLongestCommandText);
  entry.command.count += 1;
  entry.command.longest_ns = std::max(entry.command.longest_ns, length);
  entry.command.total_ns += length;
  if (entry.reported && now - *entry.reported < kBetweenReports) return;
  if (send_(entry.command)) entry.reported = now;
}

std::string_view LongCommands::known_name(std::string_view name) {
  name = name.substr(0, session::kLongestCommandText);
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return name;
  if (names_.size() == session::kMostLongCommands) return session::kOtherCommands;
  names_.emplace_back(name);
  return name;
}

LongCommands::Entry& LongCommands::entry_of(wire::DeviceIndex device, std::string_view name) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.command.device == device && entry.command.name == name;
  });
  if (found != entries_.end()) return *found;
  entries_.push_back({{device, std::string(name), {}, 0, 0, 0}, std::nullopt});
  return entries_.back();
}

}  // namespace fairgv::vgpu
