#include "tools/fairgv/ps/long_commands.hpp"

#include <fmt/core.h>

namespace fairgv::tools {
namespace {

std::string times(std::uint64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", count);
}

}  // namespace

std::vector<std::string> long_command_lines(const control::Report& report) {
  std::vector<std::string> lines;
  for (const auto& tenant : report.tenants) {
    for (const auto& session : tenant.sessions) {
      for (const session::LongCommand& command : session.long_commands) {
        lines.push_back(fmt::format("{} {} {}: held device {} up to {:.1f} ms ({}), not sliceable: {}",
                                    tenant.tenant, session.pid, command.name, command.device,
                                    static_cast<double>(command.longest_ns) / 1e6, times(command.count),
                                    command.reason));
      }
    }
  }
  return lines;
}

}  // namespace fairgv::tools
