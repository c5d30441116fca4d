// Which devices a session's worker sees, and what its processes use of those that are the host's own
// processors: what of SessionTable that concerns.
#include <algorithm>

#include "runtime/daemon/session_table.hpp"
#include "runtime/session/core_set.hpp"

namespace fairgv::daemon {
namespace {

/// Of a device that is the host's own processors, those; none: it has its own.
std::optional<cpu_set_t> processors_of(const session::DeviceDescription& device, const Config& config) {
  constexpr std::uint64_t kCpu = 1U << 1;  // CL_DEVICE_TYPE_CPU
  if ((device.type & kCpu) == 0) return std::nullopt;
  const auto cores =
      config.device_cores.empty() ? session::allowed_cores() : session::parse_core_set(config.device_cores);
  return cores ? std::optional(cores.value()) : std::nullopt;
}

}  // namespace

/// A worker sees what its user may open. Its devices that nobody has seen before go behind the others.
Result<void> SessionTable::see_devices(Session& session, const session::WorkerReady& ready) {
  if (ready.devices.empty()) {
    return Error{
        "the worker found no device: install an OpenCL driver (for instance pocl-opencl-icd) and see that " +
        host_.config.vendors + " names it"};
  }
  auto placed = place_devices(host_.devices, ready.devices);
  if (!placed || !placed->added.empty()) {
    // Nobody is the worse for it if the table begins anew: it may name drivers that have been replaced.
    if (forget_devices()) placed = place_devices(host_.devices, ready.devices);
  }
  if (!placed) return placed.error();
  for (const session::DeviceDescription& device : placed->added) {
    add_device(device);
    host_.log.info(session.account, "device: {} ({})", device.name, device.platform);
  }
  if (!placed->added.empty()) host_.memory.refresh(host_.config.devices, host_.tenants);
  session.devices = std::move(placed->view);
  return {};
}

void SessionTable::add_device(const session::DeviceDescription& device) {
  host_.devices.push_back(device);
  host_.dispatch.add_device(processors_of(device, host_.config));
  host_.memory.add_device(device);
}

/// Only while no session runs, and nobody owes anything: what is known of the devices goes with them.
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
