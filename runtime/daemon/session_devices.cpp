// The part of SessionTable about devices: those that a session's worker sees, and its processes' use of those
// that are the host's own processors.
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "runtime/base/core_set.hpp"
#include "runtime/daemon/session_table.hpp"

namespace fairgv::daemon {
namespace {

/// The processors of a device that is the host's own processors; none: the device has its own.
std::optional<cpu_set_t> processors_of(const session::DeviceDescription& device, const Config& config) {
  constexpr std::uint64_t kCpu = 1U << 1;  // CL_DEVICE_TYPE_CPU
  if ((device.type & kCpu) == 0) return std::nullopt;
  const auto cores =
      config.device_cores.empty() ? allowed_cores() : parse_core_set(config.device_cores);
  return cores ? std::optional(cores.value()) : std::nullopt;
}

}  // namespace

/// Once is enough: the next worker would find the same.
void SessionTable::tell_unusable_drivers(const session::WorkerReady& ready) {
  if (std::exchange(host_.drivers_examined, true)) return;
  for (const std::string& reason : ready.unusable) {
    spdlog::warn("a driver cannot be opened and is left out: {}: install what it lacks, or remove it",
                 reason);
  }
}

/// A worker sees the devices that its user may open. Devices that are new to the daemon go behind the others.
Result<void> SessionTable::see_devices(Session& session, const session::WorkerReady& ready) {
  tell_unusable_drivers(ready);
  if (ready.devices.empty()) {
    return Error{
        "the worker found no device: install an OpenCL driver (for instance pocl-opencl-icd) and see that " +
        host_.config.vendors + " names it"};
  }
  auto placed = place_devices(host_.devices, ready.devices);
  if (!placed || !placed->added.empty()) {
    // Beginning the table anew harms nobody here: it may name drivers that have been replaced.
    if (forget_devices()) placed = place_devices(host_.devices, ready.devices);
  }
  if (!placed) return placed.error();
  for (const session::DeviceDescription& device : placed->added) {
    const std::uint32_t hardware = hardware_of(device, host_.devices, host_.hardware, host_.config.devices);
    const bool own = hardware == host_.devices.size();
    add_device(device, hardware);
    host_.log.info(session.account, "device: {} ({}){}", device.name, device.platform,
                   own ? "" : fmt::format(", the same hardware as device {} and shared with it", hardware));
  }
  if (!placed->added.empty()) host_.memory.refresh(host_.config.devices, host_.tenants);
  session.devices = std::move(placed->view);
  return {};
}

void SessionTable::add_device(const session::DeviceDescription& device, std::uint32_t hardware) {
  host_.devices.push_back(device);
  host_.hardware.push_back(hardware);
  host_.dispatch.add_device(processors_of(device, host_.config), hardware);
  host_.memory.add_device(device);
}

/// Only while no session runs and no tenant has debt: all knowledge of the devices goes with the table.
bool SessionTable::forget_devices() {
  if (host_.devices.empty()) return false;
  for (const auto& [id, session] : sessions_) {
    if (session->stage != Session::Stage::starting) return false;
  }
  const std::vector<Tenant> tenants = host_.tenants.all();
  const bool clear = std::all_of(tenants.begin(), tenants.end(), [this](const Tenant& tenant) {
    return host_.dispatch.may_forget(tenant.id);
  });
  if (!clear) return false;
  host_.before_forgetting();
  host_.devices.clear();
  host_.hardware.clear();
  host_.dispatch.reset_devices();
  host_.memory.set_devices({});
  return true;
}

/// Processor time of its processes in their lives: of the control group, which misses none, where there is
/// one.
std::optional<std::chrono::nanoseconds> SessionTable::look_at_processors(Session& session) {
  auto ran = session.worker.group_processor_time();
  if (!ran && session.processor_clock) ran = session.processor_clock->read();
  if (ran) session.ran = ran;
  return ran;
}

void SessionTable::look_at_processors(Time now) {
  if (now < next_processor_look_ || !host_.dispatch.has_host_device()) return;
  next_processor_look_ = now + DispatchLoop::kProcessorLook;
  std::vector<ProcessorTime> times;
  for (auto& [id, session] : sessions_) {
    if (session->stage != Session::Stage::running) continue;
    if (const auto ran = look_at_processors(*session)) times.push_back({id, *ran});
  }
  if (!times.empty()) host_.dispatch.account_processors(times);
}

}  // namespace fairgv::daemon
