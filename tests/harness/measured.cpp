#include "tests/harness/measured.hpp"

#include <chrono>

namespace fairgv::harness {

nlohmann::json parse_line(const std::string& line) {
  return nlohmann::json::parse(line, nullptr, false);
}

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<nlohmann::json> run_measured(const CommandLine& command) {
  FAIRGV_TRY(finished, run(command));
  return result_of(command, finished.value());
}

Result<nlohmann::json> result_of(const CommandLine& command, const Finished& finished) {
  std::string shown;
  for (const std::string& argument : command.arguments) shown += (shown.empty() ? "" : " ") + argument;
  if (finished.status != 0) return Error{shown + " ended with status " + std::to_string(finished.status)};
  if (finished.lines.empty()) return Error{shown + " printed nothing"};
  nlohmann::json result = parse_line(finished.lines.back());
  if (!result.is_object()) return Error{shown + " printed no result"};
  if (!result.value("verified", false)) return Error{shown + ": its result is wrong"};
  return result;
}

}  // namespace fairgv::harness
