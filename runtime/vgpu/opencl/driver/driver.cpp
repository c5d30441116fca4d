#include "runtime/vgpu/opencl/driver/driver.hpp"

#include <CL/cl_ext.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "runtime/session/turn.hpp"
#include "runtime/vgpu/opencl/driver/unusable_drivers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

Platform describe(cl_platform_id id) {
  const std::string version = get_string([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetPlatformInfo(id, CL_PLATFORM_VERSION, size, value, size_ret);
  });
  int major = 0;
  int minor = 0;
  std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor);  // defined by the specification, 4.1
  const auto at_least_2 = [&](int wanted) { return major > 2 || (major == 2 && minor >= wanted); };
  return {id, at_least_2(0), at_least_2(1), at_least_2(2)};
}

std::string no_device(cl_uint platforms) {
  const char* const vendors = std::getenv("OCL_ICD_VENDORS");
  const auto reasons = vendors == nullptr ? std::vector<std::string>() : unusable_drivers(vendors);
  if (!reasons.empty()) {
    return fmt::format("OpenCL: no device; a driver cannot be opened: {}: install what it lacks",
                       fmt::join(reasons, "; "));
  }
  return fmt::format(
      "OpenCL: {} platforms and no device; install a driver (for the CPU: apt install pocl-opencl-icd)",
      platforms);
}

}  // namespace

Result<Driver> Driver::open() {
  Driver driver;
  cl_uint platform_count = 0;
  clGetPlatformIDs(0, nullptr, &platform_count);
  std::vector<cl_platform_id> platforms(platform_count);
  if (platform_count != 0) clGetPlatformIDs(platform_count, platforms.data(), nullptr);

  for (cl_platform_id platform : platforms) {
    cl_uint count = 0;
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    std::vector<cl_device_id> devices(count);
    if (count != 0) clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    const auto index = static_cast<wire::PlatformIndex>(driver.platforms_.size());
    driver.platforms_.push_back(describe(platform));
    for (cl_device_id device : devices) {
      cl_device_type type = 0;
      clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, nullptr);
      const auto root = static_cast<wire::DeviceIndex>(driver.devices_.size());
      driver.devices_.push_back({device, index, type, root, root, device, index, 0, nullptr});
    }
  }
  if (driver.devices_.empty()) {
    return Error{no_device(platform_count)};
  }
  // A device without a turn cannot be shared.
  if (driver.devices_.size() > session::kMaxDevices) driver.devices_.resize(session::kMaxDevices);
  driver.root_count_ = driver.devices_.size();
  return driver;
}

bool Driver::has_host_device() const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [](const Device& device) { return (device.type & CL_DEVICE_TYPE_CPU) != 0; });
}

std::string Driver::platform_name(wire::PlatformIndex platform) const {
  return get_string([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetPlatformInfo(platforms_[platform].id, CL_PLATFORM_NAME, size, value, size_ret);
  });
}

std::string Driver::device_name(wire::DeviceIndex device) const {
  return get_string([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetDeviceInfo(devices_[device].id, CL_DEVICE_NAME, size, value, size_ret);
  });
}

std::string Driver::device_id(wire::DeviceIndex device) const {
  const cl_device_id id = devices_[device].id;
  std::array<cl_uchar, CL_UUID_SIZE_KHR> uuid{};
  if (clGetDeviceInfo(id, CL_DEVICE_UUID_KHR, sizeof(uuid), uuid.data(), nullptr) == CL_SUCCESS) {
    std::string text = "uuid ";
    for (const cl_uchar byte : uuid) text += fmt::format("{:02x}", byte);
    return text;
  }
  cl_device_pci_bus_info_khr pci{};
  if (clGetDeviceInfo(id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(pci), &pci, nullptr) != CL_SUCCESS) return {};
  return fmt::format("pci {:04x}:{:02x}:{:02x}.{:x}", pci.pci_domain, pci.pci_bus, pci.pci_device,
                     pci.pci_function);
}

Result<std::vector<cl_device_id>> Driver::ids(std::span<const wire::DeviceIndex> devices) const {
  std::vector<cl_device_id> ids;
  for (const wire::DeviceIndex device : devices) {
    if (device >= devices_.size() || devices_[device].id == nullptr) {
      return Error{fmt::format("device {} of {} does not exist", device, devices_.size())};
    }
    ids.push_back(devices_[device].id);
  }
  return ids;
}

void Driver::replace(wire::DeviceIndex device, const Device& by) {
  const Device before = devices_[device];
  devices_[device] = by;
  devices_[device].charged = device;
  devices_[device].known_as = before.known_as;
  devices_[device].known_on = before.known_on;
}

std::optional<wire::PlatformIndex> Driver::place_of(wire::PlatformIndex platform) const {
  std::optional<wire::PlatformIndex> place;
  for (const Device& device : root_devices()) {
    if (device.known_on != platform) continue;
    if (place && *place != device.platform) return std::nullopt;
    place = device.platform;
  }
  return place ? place : platform;
}

}  // namespace fairgv::vgpu::opencl
