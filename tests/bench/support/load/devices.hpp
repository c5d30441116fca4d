// Several devices in one experiment: so many of PoCL's, each with tenants of its own. They run on the same
// processors, so a program that is alone on its device is measured while the other devices are as busy, each
// with a program alone on it (OnRequest::run_at_once).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "tests/bench/support/api.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// Declares --devices. Several are refused with another API than OpenCL, if the experiment has a choice:
/// CUDA's software driver has one device. `api` must outlive the experiment's run().
void declare_devices(Experiment& experiment, std::size_t& devices, const Api* api = nullptr);

/// A daemon for so many of PoCL's devices, each of them hardware of its own as far as a CPU's processors can
/// be. Programs that this process starts later on the driver alone see as many; these tenants see only their
/// own. `tenants`: lists of names, each with as many for every device, one device after the other.
Result<harness::Tenancy> start_on(std::size_t devices, std::string configuration,
                                  const harness::Placement& placement,
                                  const std::vector<std::vector<std::string>>& tenants);

/// A program, with its arguments, that runs on the driver alone: on this one of so many devices.
std::vector<std::string> on_device(std::vector<std::string> program, std::size_t device, std::size_t devices);

/// The name of the tenant that has this part on the device: "low" on the only one, or "low-0", "low-1", ...
std::string tenant_on(const std::string& part, std::size_t device, std::size_t devices);

/// The tenants with these parts, of every device, one device after the other.
std::vector<std::string> tenants_on_all(const std::vector<std::string>& parts, std::size_t devices);

/// Those of `all` that belong to the device: as many belong to each, one device after the other.
template <typename Each>
std::vector<Each> of_device(const std::vector<Each>& all, std::size_t device, std::size_t devices) {
  const std::size_t count = all.size() / devices;
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(device * count);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace fairgv::bench
