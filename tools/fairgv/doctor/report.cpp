#include "tools/fairgv/doctor/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/fairgv/command.hpp"

namespace fairgv::tools::doctor {
namespace {

const char* name_of(Level level) {
  switch (level) {
    case Level::ok:
      return "ok";
    case Level::note:
      return "note";
    case Level::wrong:
      break;
  }
  return "wrong";
}

}  // namespace

std::string to_line(const Finding& finding) {
  std::string line = fmt::format("{:<5}  {}: {}", name_of(finding.level), finding.subject, finding.text);
  if (!finding.remedy.empty()) line += ". Do: " + finding.remedy;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return line;
}

std::string to_json(const Findings& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"level", name_of(finding.level)},
                    {"subject", finding.subject},
                    {"text", finding.text},
                    {"remedy", finding.remedy}});
  }
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

int exit_status(const Findings& findings) {
  const bool bad = std::any_of(findings.begin(), findings.end(),
                               [](const Finding& finding) { return finding.level == Level::wrong; });
  return bad ? kFailed : 0;
}

}  // namespace fairgv::tools::doctor
