// Reports of a daemon, for the tests of `fairgv top`.
#pragma once

#include "runtime/control/protocol.hpp"

namespace fairgv::tools::top {

inline control::Report::Tenant top_tenant(const std::string& name, std::uint32_t weight, double share,
                                          double entitled) {
  control::Report::Tenant tenant;
  tenant.tenant = name;
  tenant.weight = weight;
  tenant.ideal_share = entitled;
  tenant.share = {share};
  tenant.device_time_ns = {static_cast<std::uint64_t>(share * 10e9)};
  tenant.memory_used = {std::uint64_t{weight} << 20};
  tenant.memory_limit = {std::uint64_t{1} << 30};
  tenant.sessions = {{weight, 100 + weight, "prog", 200 + weight, "busy"}};
  return tenant;
}

/// One device; alice (weight 3), bob (2) and carol (1), who have their entitled shares.
inline control::Report top_report() {
  control::Report report;
  report.daemon = {42, "1.2.3", "/run/x.sock", 3725, 6};
  control::Report::Device device{0, "Platform", "Device", "bob", "fair", 6};
  device.memory = std::uint64_t{4} << 30;
  device.memory_used = std::uint64_t{6} << 20;
  report.devices = {device};
  report.tenants = {top_tenant("alice", 3, 0.5, 0.5), top_tenant("bob", 2, 1.0 / 3, 1.0 / 3),
                    top_tenant("carol", 1, 1.0 / 6, 1.0 / 6)};
  return report;
}

/// The same; alice has a guarantee and a ceiling, carol is of the batch class.
inline control::Report promised_report() {
  control::Report report = top_report();
  for (control::Report::Tenant& tenant : report.tenants) {
    tenant.min = "none";
    tenant.max = "100%";
    tenant.service = "normal";
  }
  report.tenants[0].min = "5ms/20ms";
  report.tenants[0].min_share = 0.25;
  report.tenants[0].max = "75%";
  report.tenants[0].max_share = 0.75;
  report.tenants[2].service = "batch";
  return report;
}

}  // namespace fairgv::tools::top
