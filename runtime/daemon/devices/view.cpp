#include "runtime/daemon/devices/view.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "runtime/session/turn.hpp"

namespace fairgv::daemon {

DeviceView DeviceView::first(std::size_t count) {
  std::vector<std::uint32_t> host(count);
  std::iota(host.begin(), host.end(), 0U);
  return DeviceView(std::move(host));
}

std::optional<std::uint32_t> DeviceView::worker(std::uint32_t host) const {
  const auto found = std::find(host_.begin(), host_.end(), host);
  if (found == host_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - host_.begin());
}

std::vector<std::uint32_t> DeviceView::shown() const {
  std::vector<std::uint32_t> list;
  for (std::size_t i = 0; i < host_.size(); ++i) {
    if (!hides(i)) list.push_back(host_[i]);
  }
  return list;
}

DeviceView DeviceView::through(const std::vector<std::uint32_t>& other) const {
  std::vector<std::uint32_t> list;
  for (const std::uint32_t device : host_) list.push_back(other[device]);
  DeviceView view(std::move(list));
  view.hide(hidden_);
  return view;
}

std::vector<std::uint64_t> DeviceView::host_sets(std::uint64_t workers) const {
  std::vector<std::uint64_t> sets;
  for (std::size_t i = 0; i < host_.size(); ++i) {
    if ((workers >> i & 1U) == 0) continue;
    const std::uint64_t bit = std::uint64_t{1} << host_[i];
    auto set =
        std::find_if(sets.begin(), sets.end(), [bit](std::uint64_t each) { return (each & bit) == 0; });
    if (set == sets.end()) set = sets.insert(sets.end(), 0);
    *set |= bit;
  }
  return sets;
}

Result<PlacedDevices> place_devices(const std::vector<session::DeviceDescription>& table,
                                    const std::vector<session::DeviceDescription>& seen) {
  PlacedDevices placed;
  std::vector<std::uint32_t> view;
  std::set<std::uint32_t> taken;
  for (const session::DeviceDescription& device : seen) {
    std::uint32_t place = 0;
    while (place < table.size() && (taken.contains(place) || !(table[place] == device))) ++place;
    if (place == table.size()) {
      place += static_cast<std::uint32_t>(placed.added.size());
      placed.added.push_back(device);
    }
    taken.insert(place);
    view.push_back(place);
  }
  if (table.size() + placed.added.size() > session::kMaxDevices) {
    return Error{"the worker sees " + std::to_string(placed.added.size()) +
                 " devices that are not among the " + std::to_string(table.size()) +
                 " which fairgvd knows, and it keeps " + std::to_string(session::kMaxDevices) +
                 " at most: restart fairgvd when nothing runs"};
  }
  placed.view = DeviceView(std::move(view));
  return placed;
}

}  // namespace fairgv::daemon
