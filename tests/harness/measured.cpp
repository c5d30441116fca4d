#include "tests/harness/measured.hpp"

namespace fairgv::harness {

nlohmann::json parse_line(const std::string& line) {
  return nlohmann::json::parse(line, nullptr, false);
}

Result<nlohmann::json> run_measured(const CommandLine& command) {
  std::string shown;
  for (const std::string& argument : command.arguments) shown += (shown.empty() ? "" : " ") + argument;
  auto finished = run(command);
  if (!finished) return finished.error();
  if (finished->status != 0) return Error{shown + " ended with status " + std::to_string(finished->status)};
  if (finished->lines.empty()) return Error{shown + " printed nothing"};
  nlohmann::json result = parse_line(finished->lines.back());
  if (!result.is_object()) return Error{shown + " printed no result"};
  if (!result.value("verified", false)) return Error{shown + ": its result is wrong"};
  return result;
}

}  // namespace fairgv::harness
