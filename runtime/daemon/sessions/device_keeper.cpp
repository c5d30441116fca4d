#include "runtime/daemon/sessions/device_keeper.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "runtime/base/core_set.hpp"

namespace fairgv::daemon {
namespace {

/// The host's processors that the device consists of; none: it has its own.
std::optional<cpu_set_t> processors_of(const session::DeviceDescription& device, const Config& config) {
  constexpr std::uint64_t kCpu = 1U << 1;  // CL_DEVICE_TYPE_CPU
  if ((device.type & kCpu) == 0) return std::nullopt;
  const auto cores =
      config.tuning.device_cores.empty() ? allowed_cores() : parse_core_set(config.tuning.device_cores);
  return cores ? std::optional(cores.value()) : std::nullopt;
}

}  // namespace

DeviceKeeper::DeviceKeeper(const Config& config, DispatchLoop& dispatch, Tenancies& tenancies, UserLog& log)
    : config_(config),
      dispatch_(dispatch),
      tenancies_(tenancies),
      log_(log),
      placements_(config, dispatch, tenancies, table_) {
  tenancies.call_on_attributes([this](const Tenant& tenant) { placements_.attributes_changed(tenant); });
}

void DeviceKeeper::add(const session::DeviceDescription& device, std::uint32_t hardware) {
  table_.devices.push_back(device);
  table_.hardware.push_back(hardware);
  dispatch_.add_device(processors_of(device, config_), hardware, device.memory);
  tenancies_.memory().add_device(device);
  tenancies_.registry().set_devices(table_.hardware);
  const auto drained = std::find_if(still_drained_.begin(), still_drained_.end(),
                                    [&](const StillDrained& each) { return each.device == device; });
  if (drained == still_drained_.end()) return;
  table_.drained.insert(table_.size() - 1);
  if (drained->failure) table_.failed[table_.size() - 1] = *drained->failure;
  still_drained_.erase(drained);
}

void DeviceKeeper::set_drained(std::uint32_t device, bool drained) {
  if (drained) {
    table_.drained.insert(device);
  } else {
    table_.drained.erase(device);
    table_.failed.erase(device);
  }
}

void DeviceKeeper::set_failed(std::uint32_t device, const std::string& reason) {
  table_.drained.insert(device);
  table_.failed[device] = reason;
}

Result<DeviceView> DeviceKeeper::see(const Account& account,
                                     const std::vector<session::DeviceDescription>& seen,
                                     const Sessions& sessions) {
  if (seen.empty()) {
    return Error{
        "the worker found no device: install an OpenCL driver (for instance pocl-opencl-icd) and see that " +
        config_.vendors + " names it"};
  }
  auto placed = place_devices(table_.devices, seen);
  if (!placed || !placed->added.empty()) {
    // Beginning the table anew harms nobody: it may name drivers that have been replaced.
    if (begin_anew(sessions)) placed = place_devices(table_.devices, seen);
  }
  if (!placed) return placed.error();
  for (const session::DeviceDescription& device : placed->added) {
    const std::uint32_t hardware = hardware_of(device, table_.devices, table_.hardware, config_.devices);
    const bool own = hardware == table_.size();
    add(device, hardware);
    log_.info(account, "device: {} ({}){}", device.name, device.platform,
              own ? "" : fmt::format(", the same hardware as device {} and shared with it", hardware));
  }
  if (!placed->added.empty()) tenancies_.refresh_memory();
  return std::move(placed->view);
}

/// Only while no session runs and no tenant owes anything: the books on the devices go with them.
bool DeviceKeeper::begin_anew(const Sessions& sessions) {
  if (table_.empty() || !sessions.all_in(Session::Stage::starting)) return false;
  const std::vector<Tenant> tenants = tenancies_.registry().all();
  const bool clear = std::all_of(tenants.begin(), tenants.end(), [this](const Tenant& tenant) {
    return dispatch_.looks().may_forget(tenant.id);
  });
  if (!clear) return false;
  tenancies_.about_to_forget();
  for (const std::uint32_t device : table_.drained) {
    const auto failure = table_.failed.find(device);
    still_drained_.push_back({table_.devices[device], failure == table_.failed.end()
                                                          ? std::nullopt
                                                          : std::optional(failure->second)});
  }
  table_ = {};
  dispatch_.reset_devices();
  tenancies_.memory().set_devices({});
  tenancies_.registry().set_devices({});
  placements_.begin_anew();
  return true;
}

}  // namespace fairgv::daemon
