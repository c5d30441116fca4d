#include "tests/harness/executions.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace fairgv::harness {

Result<std::vector<Execution>> read_executions(const std::string& file) {
  std::ifstream in(file);
  if (!in) return system_error("cannot read " + file);
  std::vector<Execution> executions;
  for (std::string line; std::getline(in, line);) {
    std::istringstream columns(line);
    Execution each;
    if (!(columns >> each.start >> each.end) || each.end < each.start) {
      return Error{file + ": '" + line + "' is no kernel's start and end"};
    }
    executions.push_back(each);
  }
  return executions;
}

std::chrono::nanoseconds summed(const std::vector<Execution>& executions) {
  std::uint64_t sum = 0;
  for (const Execution& each : executions) sum += each.end - each.start;
  return std::chrono::nanoseconds(sum);
}

std::chrono::nanoseconds spanned(std::vector<Execution> executions, std::chrono::nanoseconds gap) {
  if (executions.empty()) return std::chrono::nanoseconds(0);
  std::sort(executions.begin(), executions.end(),
            [](const Execution& one, const Execution& other) { return one.start < other.start; });
  std::uint64_t span = 0;
  std::uint64_t covered_until = executions.front().start;
  for (const Execution& each : executions) {
    const bool apart = each.start >= covered_until + static_cast<std::uint64_t>(gap.count());
    if (apart) covered_until = each.start;
    if (each.end <= covered_until) continue;
    span += each.end - covered_until;
    covered_until = each.end;
  }
  return std::chrono::nanoseconds(span);
}

double part_in_use(const std::vector<Execution>& executions) {
  const auto whole = spanned(executions, std::chrono::nanoseconds::max());
  if (whole <= std::chrono::nanoseconds(0)) return 0;
  return std::chrono::duration<double>(spanned(executions, std::chrono::nanoseconds(0))) / whole;
}

}  // namespace fairgv::harness
