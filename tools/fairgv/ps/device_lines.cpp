#include "tools/fairgv/ps/device_lines.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace fairgv::tools {

std::vector<std::string> device_lines(const control::Report& report) {
  std::vector<std::string> lines;
  for (const auto& tenant : report.tenants) {
    for (const auto& session : tenant.sessions) {
      for (const auto& [device, place] : session.moved) {
        lines.push_back(fmt::format("{} {} {}: its device {} lies on device {}", tenant.tenant, session.pid,
                                    session.program, device, place));
      }
      if (session.passed_over.empty()) continue;
      lines.push_back(fmt::format("{} {} {}: device {}; not {}", tenant.tenant, session.pid, session.program,
                                  fmt::join(session.devices, ","), fmt::join(session.passed_over, ", not ")));
    }
  }
  return lines;
}

}  // namespace fairgv::tools
