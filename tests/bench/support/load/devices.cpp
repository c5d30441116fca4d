#include "tests/bench/support/load/devices.hpp"

#include <fmt/core.h>

#include <cstdlib>

namespace fairgv::bench {

using namespace harness;

void declare_devices(Experiment& experiment, std::size_t& devices, const Api* api) {
  experiment.options()
      .add_option("--devices", devices, "So many of PoCL's devices, each with tenants of its own")
      ->check(CLI::Range(1, 16));
  experiment.options().parse_complete_callback([&devices, api] {
    if (devices == 1 || api == nullptr || *api == Api::kOpenCl) return;
    throw CLI::ValidationError(
        "--devices", "CUDA has one device without a GPU: leave out --devices, or take --api opencl");
  });
}

Result<Tenancy> start_on(std::size_t devices, std::string configuration, const Placement& placement,
                         const std::vector<std::vector<std::string>>& tenants) {
  if (devices == 1) return Tenancy::start(placement, {}, configuration);
  std::string drivers = "pthread";
  for (std::size_t device = 1; device < devices; ++device) {
    drivers += " pthread";
    configuration += fmt::format("\n[device.{}]\nsame_as = {}\n", device, device);
  }
  for (const std::vector<std::string>& list : tenants) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      configuration +=
          fmt::format("\n[tenant.\"{}\"]\ndevices = \"{}\"\n", list[i], i / (list.size() / devices));
    }
  }
  // The programs that are measured on the driver alone get it from here, too.
  ::setenv("POCL_DEVICES", drivers.c_str(), 1);
  return Tenancy::start(placement, {}, configuration);
}

std::vector<std::string> on_device(std::vector<std::string> program, std::size_t device,
                                   std::size_t devices) {
  if (devices > 1) program.insert(program.end(), {"--device", std::to_string(device)});
  return program;
}

std::string tenant_on(const std::string& part, std::size_t device, std::size_t devices) {
  return devices == 1 ? part : fmt::format("{}-{}", part, device);
}

std::vector<std::string> tenants_on_all(const std::vector<std::string>& parts, std::size_t devices) {
  std::vector<std::string> tenants;
  for (std::size_t device = 0; device < devices; ++device) {
    for (const std::string& part : parts) tenants.push_back(tenant_on(part, device, devices));
  }
  return tenants;
}

}  // namespace fairgv::bench
