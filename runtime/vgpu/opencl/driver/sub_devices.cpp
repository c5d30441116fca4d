// Driver: sub-devices, and how another worker makes them again.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "runtime/vgpu/opencl/driver/driver.hpp"

namespace fairgv::vgpu::opencl {
namespace {

struct Made {
  cl_int error = CL_SUCCESS;
  std::vector<cl_device_id> ids;
};

Made split_by_driver(cl_device_id device, std::span<const std::int64_t> list) {
  static_assert(sizeof(cl_device_partition_property) == sizeof(std::int64_t));
  const auto* const properties = reinterpret_cast<const cl_device_partition_property*>(list.data());
  Made made;
  cl_uint count = 0;
  made.error = clCreateSubDevices(device, properties, 0, nullptr, &count);
  if (made.error != CL_SUCCESS) return made;
  made.ids.resize(count);
  if (count != 0) made.error = clCreateSubDevices(device, properties, count, made.ids.data(), nullptr);
  return made;
}

}  // namespace

bool is_partition(std::span<const std::int64_t> properties) {
  if (properties.size() < 3 || properties.back() != 0) return false;
  switch (properties.front()) {
    case CL_DEVICE_PARTITION_EQUALLY:
    case CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN:
      return properties.size() == 3;
    case CL_DEVICE_PARTITION_BY_COUNTS:
      return properties[properties.size() - 2] == CL_DEVICE_PARTITION_BY_COUNTS_LIST_END;
    default:
      return false;
  }
}

// ---- the program's requests

Driver::SubDevices Driver::split(wire::DeviceIndex device, std::span<const std::int64_t> properties) {
  const Made made = split_by_driver(devices_[device].id, properties);
  if (made.error != CL_SUCCESS) return {made.error, {}};
  const auto parts = parts_of(devices_[device], made.ids);
  if (!parts) return {CL_OUT_OF_RESOURCES, {}};
  Partition what{++latest_split_, 0, device, {properties.begin(), properties.end()}, {}};
  for (const Split& split : splits_) {
    const auto part = std::find(split.what.parts.begin(), split.what.parts.end(), device);
    if (part == split.what.parts.end()) continue;
    what.of = split.what.number;
    what.device = static_cast<wire::DeviceIndex>(part - split.what.parts.begin());
  }
  for (const Device& part : *parts) {
    what.parts.push_back(free_index());
    devices_[what.parts.back()] = part;
  }
  SubDevices reply{CL_SUCCESS, what.parts};
  add(std::move(what), *parts);
  return reply;
}

Result<void> Driver::release_sub_device(wire::DeviceIndex device) {
  if (device < root_count_ || device >= devices_.size() || devices_[device].id == nullptr) {
    return Error{fmt::format("{} is no sub-device", device)};
  }
  for (Split& split : splits_) {
    const auto part = std::find(split.what.parts.begin(), split.what.parts.end(), device);
    if (part == split.what.parts.end()) continue;
    let_go(split, static_cast<std::size_t>(part - split.what.parts.begin()));
    break;
  }
  forget_unused();
  return {};
}

wire::DeviceIndex Driver::free_index() {
  const auto free = std::find_if(devices_.begin(), devices_.end(),
                                 [](const Device& device) { return device.id == nullptr; });
  const auto index = static_cast<wire::DeviceIndex>(free - devices_.begin());
  if (free == devices_.end()) devices_.emplace_back();
  return index;
}

/// Takes the driver's references. Nothing if there are too many, or the device was split too often.
std::optional<std::vector<Device>> Driver::parts_of(const Device& whole,
                                                    std::span<const cl_device_id> ids) const {
  std::vector<Device> parts;
  for (const cl_device_id id : ids) {
    std::shared_ptr<const void> owner(id, [id, whole = whole.owner](const void*) { clReleaseDevice(id); });
    parts.push_back({id, whole.platform, whole.type, whole.root, whole.charged, whole.known_as,
                     whole.known_on, whole.depth + 1, std::move(owner)});
  }
  const auto live = static_cast<std::size_t>(std::count_if(
      devices_.begin(), devices_.end(), [](const Device& device) { return device.id != nullptr; }));
  if (live - root_count_ + ids.size() > kMostSubDevices || whole.depth >= kDeepest) return std::nullopt;
  return parts;
}

void Driver::add(Partition what, const std::vector<Device>& parts) {
  Split split{std::move(what), {}};
  for (Device part : parts) {
    const std::weak_ptr<const void> owner = std::exchange(part.owner, nullptr);
    split.parts.push_back({std::move(part), owner});
  }
  splits_.push_back(std::move(split));
}

void Driver::let_go(Split& split, std::size_t part) {
  const wire::DeviceIndex index = std::exchange(split.what.parts[part], Partition::kGone);
  if (index != Partition::kGone) devices_[index] = {};
}

void Driver::forget_unused() {
  splits_.erase(std::remove_if(splits_.begin(), splits_.end(),
                               [](const Split& split) {
                                 return std::all_of(split.parts.begin(), split.parts.end(),
                                                    [](const Part& part) { return part.owner.expired(); });
                               }),
                splits_.end());
}

// ---- another worker takes over, or this one does

std::vector<Partition> Driver::partitions() {
  forget_unused();
  std::vector<Partition> all;
  for (const Split& split : splits_) all.push_back(split.what);
  return all;
}

bool Driver::has_strays() const {
  const auto split_of_it = [this](const Split& of, std::size_t place) {
    long parts = 0;  // each of them holds the device that it is a part of
    for (const Split& split : splits_) {
      if (split.what.of != of.what.number || split.what.device != place) continue;
      parts += std::count_if(split.parts.begin(), split.parts.end(),
                             [](const Part& part) { return !part.owner.expired(); });
    }
    return parts;
  };
  for (const Split& split : splits_) {
    for (std::size_t place = 0; place < split.parts.size(); ++place) {
      if (split.what.parts[place] != Partition::kGone) continue;
      if (split.parts[place].owner.use_count() > split_of_it(split, place)) return true;
    }
  }
  return false;
}

Result<void> Driver::make_again(std::span<const Partition> partitions) {
  // A part that is gone may have to be split.
  Owners held;
  for (const Split& split : splits_) {
    for (const Part& part : split.parts) held.push_back(part.owner.lock());
  }
  const auto known = [this](const Partition& partition) {
    return std::any_of(splits_.begin(), splits_.end(),
                       [&](const Split& split) { return split.what.number == partition.number; });
  };
  for (Split& split : splits_) {
    const auto now = std::find_if(partitions.begin(), partitions.end(), [&](const Partition& partition) {
      return partition.number == split.what.number;
    });
    for (std::size_t place = 0; place < split.parts.size(); ++place) {
      const bool stays = now != partitions.end() && place < now->parts.size() &&
                         now->parts[place] == split.what.parts[place];
      if (!stays) let_go(split, place);
    }
  }
  for (const Partition& partition : partitions) {
    if (!known(partition)) FAIRGV_CHECK(make_again(partition, held));
  }
  held.clear();
  forget_unused();
  return {};
}

/// The device that was split.
Result<Device> Driver::whole_of(const Partition& partition) const {
  if (partition.of == 0 && partition.device < root_count_) return Device(devices_[partition.device]);
  const auto split = std::find_if(splits_.begin(), splits_.end(),
                                  [&](const Split& each) { return each.what.number == partition.of; });
  if (split == splits_.end() || partition.device >= split->parts.size())
    return Error{"an image with a part of a sub-device that is none"};
  Device whole = split->parts[partition.device].device;
  whole.owner = split->parts[partition.device].owner.lock();
  if (!whole.owner) return Error{"an image with a part of a sub-device that is gone"};
  return whole;
}

Result<void> Driver::make_again(const Partition& partition, Owners& held) {
  FAIRGV_TRY(whole, whole_of(partition));
  if (!is_partition(partition.properties)) return Error{"an image with a partition that is none"};
  const Made made = split_by_driver(whole->id, partition.properties);
  if (made.error != CL_SUCCESS)
    return Error{fmt::format("device {} cannot be split there as it was here: the driver answers {}",
                             whole->charged, made.error)};
  const auto parts = parts_of(whole.value(), made.ids);
  if (!parts) return Error{"an image with more sub-devices than a session may have"};
  for (const Device& part : *parts) held.push_back(part.owner);
  if (parts->size() != partition.parts.size())
    return Error{fmt::format("device {} would be split into {} sub-devices there instead of {}",
                             whole->charged, parts->size(), partition.parts.size())};
  for (std::size_t place = 0; place < parts->size(); ++place) {
    const wire::DeviceIndex index = partition.parts[place];
    if (index == Partition::kGone) continue;
    if (index < root_count_ || index >= root_count_ + kMostSubDevices)
      return Error{"an image with a sub-device in a place for none"};
    if (index >= devices_.size()) devices_.resize(index + 1);
    if (devices_[index].id != nullptr) return Error{"an image with two sub-devices in one place"};
    devices_[index] = (*parts)[place];
  }
  latest_split_ = std::max(latest_split_, partition.number);
  add(partition, *parts);
  return {};
}

}  // namespace fairgv::vgpu::opencl
