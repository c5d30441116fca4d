#include "runtime/daemon/devices/device_map.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace fairgv::daemon {
namespace {

std::uint64_t bit_of_place(std::uint32_t place) {
  return std::uint64_t{1} << place;
}

std::uint64_t all_places_of(const DeviceView& view) {
  return bit_of_place(static_cast<std::uint32_t>(view.size())) - 1;
}

}  // namespace

std::uint32_t DeviceMap::place_of(std::uint32_t device) const {
  const auto found =
      std::find_if(moved_.begin(), moved_.end(), [device](const auto& each) { return each.first == device; });
  return found == moved_.end() ? device : found->second;
}

DeviceMap DeviceMap::after(const Pairs& moves, const DeviceView& programs) const {
  Pairs placed;
  for (std::uint32_t device = 0; device < programs.size(); ++device) {
    const auto move = std::find_if(moves.begin(), moves.end(), [place = place_of(device)](const auto& each) {
      return each.first == place;
    });
    if (move != moves.end()) placed.emplace_back(device, move->second);
  }
  return with(placed, programs);
}

DeviceMap DeviceMap::with(const Pairs& placed, const DeviceView& programs) const {
  DeviceMap map({}, visited_);
  for (std::uint32_t device = 0; device < programs.size(); ++device) {
    if (programs.hides(device)) continue;
    std::uint32_t place = place_of(device);
    const auto found = std::find_if(placed.begin(), placed.end(),
                                    [device](const auto& each) { return each.first == device; });
    if (found != placed.end()) {
      place = found->second;
      map.visited_ |= bit_of_place(place);
    }
    if (place != device) map.moved_.emplace_back(device, place);
    if (place != device && place == place_of(device)) map.forced_ |= forced_ & bit_of_place(device);
  }
  return map;
}

std::vector<std::uint32_t> DeviceMap::forced_devices() const {
  std::vector<std::uint32_t> list;
  for (const auto& [device, place] : moved_) {
    if ((forced_ & bit_of_place(device)) != 0) list.push_back(device);
  }
  return list;
}

DeviceMap DeviceMap::by_force() const {
  DeviceMap map = *this;
  for (const auto& [device, place] : moved_) map.forced_ |= bit_of_place(device);
  return map;
}

DeviceView DeviceMap::places_in(const DeviceView& programs) const {
  std::uint64_t taken = 0;
  for (std::uint32_t device = 0; device < programs.size(); ++device) {
    if (!programs.hides(device)) taken |= bit_of_place(place_of(device));
  }
  DeviceView view = programs;
  view.hide(all_places_of(programs) & ~taken);
  return view;
}

DeviceView DeviceMap::homes_in(const DeviceView& programs) const {
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t device = 0; device < programs.size(); ++device) {
    const std::uint32_t place = place_of(device);
    hosts.push_back(programs.host(place < programs.size() ? place : device));
  }
  DeviceView view(std::move(hosts));
  view.hide(programs.hidden());
  return view;
}

DeviceView DeviceMap::visited_in(const DeviceView& programs) const {
  DeviceView view = programs;
  view.hide(programs.hidden() & ~visited_);
  return view;
}

Result<DeviceMap::Pairs> moves_to(const DeviceView& places, std::uint64_t used, std::uint32_t to) {
  const std::uint64_t taken = all_places_of(places) & ~places.hidden();
  const std::uint64_t wanted = (used & taken) != 0 ? used & taken : taken;
  DeviceMap::Pairs moves;
  for (std::uint32_t place = 0; place < places.size(); ++place) {
    if (place != to && (wanted & bit_of_place(place)) != 0) moves.emplace_back(place, to);
  }
  if (moves.empty()) {
    return Error{"has all that it uses on device " + std::to_string(places.host(to)) + " already"};
  }
  return moves;
}

}  // namespace fairgv::daemon
