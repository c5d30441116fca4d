#include "tests/harness/process_cpu.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace fairgv::harness {

std::optional<std::uint64_t> cpu_ticks(const std::string& stat) {
  // The program's name, in parentheses, may itself have spaces and parentheses: the last one ends it.
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  if (!(fields >> user >> system)) return std::nullopt;
  return user + system;
}

std::optional<double> cpu_seconds(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(in, line);
  const auto ticks = cpu_ticks(line);
  if (!ticks) return std::nullopt;
  return static_cast<double>(*ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace fairgv::harness
