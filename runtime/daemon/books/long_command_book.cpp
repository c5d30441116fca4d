#include "runtime/daemon/books/long_command_book.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace fairgv::daemon {
namespace {

/// Those that a worker names, and all others.
constexpr std::size_t kMostNames = session::kMostLongCommands + 1;

}  // namespace

Result<bool> LongCommandBook::take(session::LongCommand command, const DeviceView& devices) {
  if (command.device >= devices.size()) {
    return Error{"its worker told of device " + std::to_string(command.device) + " of " +
                 std::to_string(devices.size())};
  }
  command.device = devices.host(command.device);
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const session::LongCommand& known) {
    return known.device == command.device && known.name == command.name;
  });
  if (same != all_.end()) {
    *same = std::move(command);
    return false;
  }
  if (!has_room_for(command.name)) {
    return Error{"its worker told of more than " + std::to_string(kMostNames) + " long commands"};
  }
  all_.push_back(std::move(command));
  return true;
}

bool LongCommandBook::has_room_for(const std::string& name) const {
  std::set<std::string_view> names{name};
  for (const session::LongCommand& known : all_) names.insert(known.name);
  return names.size() <= kMostNames;
}

}  // namespace fairgv::daemon
