#include "runtime/daemon/config/options.hpp"

#include "runtime/daemon/config/options/sections.hpp"

namespace fairgv::daemon {

const std::vector<SingleSection>& single_sections() {
  static const std::vector<SingleSection> kSections{
      {"daemon", "The daemon itself.", daemon_options()},
      {kDeviceSection, "How devices are shared.", all_device_options()},
      {"session", "What one program may have at a time (see Limits).", session_options()},
      {"worker", "How the workers are confined (see Workers).", worker_options()},
      {"opencl", "The drivers to share.", opencl_options()},
      {"cuda", "The driver under programs of CUDA.", cuda_options()},
      {"metrics", "What Prometheus is told (see Metrics).", metrics_options()},
      {"usage", "What is kept of what tenants have used (see The usage store).", usage_options()},
      {"tenants", "All tenants.", tenants_options()},
      {"timegraph", "Priorities and reserves on devices with `policy = \"timegraph\"` (see TimeGraph).",
       timegraph_options()},
  };
  return kSections;
}

std::string device_title(std::uint32_t index) {
  return "[device." + std::to_string(index) + "]";
}

std::string tenant_title(const std::string& name) {
  return "[tenant.\"" + name + "\"]";
}

std::string class_title(const std::string& name) {
  return "[class.\"" + name + "\"]";
}

std::string match_title(std::size_t index) {
  return "[[match]] " + std::to_string(index + 1);
}

}  // namespace fairgv::daemon
