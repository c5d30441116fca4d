#include "runtime/control/answers.hpp"

#include "runtime/base/json_fields.hpp"
#include "runtime/control/protocol.hpp"

namespace fairgv::control {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLines = 1'000'000;
constexpr std::size_t kLongestConfig = std::size_t{64} << 20;

std::vector<std::string> texts_of(JsonFields& fields, const char* key) {
  std::vector<std::string> texts;
  for (const json& element : fields.list(key, kMostLines)) {
    if (element.is_string()) texts.push_back(printable(element.get<std::string>(), kLongestText));
  }
  return texts;
}

std::optional<std::string> text_if_any(JsonFields& fields, const char* key) {
  if (!fields.has(key)) return std::nullopt;
  return printable(fields.string(key, kLongestText), kLongestText);
}

json json_of(const std::optional<std::string>& text) {
  return text ? json(*text) : json();
}

}  // namespace

std::string to_text(const ReloadReport& report) {
  return json_text(json{{"ok", true},
                        {"file", report.file},
                        {"at_once", report.at_once},
                        {"new_programs", report.new_programs},
                        {"restart", report.restart},
                        {"warnings", report.warnings}});
}

std::string refusal_text(const std::vector<std::string>& lines) {
  return json_text(json{{"ok", false}, {"error", "the configuration stays as it was"}, {"lines", lines}});
}

Result<ReloadReport> parse_reload_report(std::string_view text) {
  if (const auto outcome = parse_outcome(text); !outcome) {
    Error error = outcome.error();
    JsonFields fields(text, "daemon's answer");
    if (!fields.has("lines")) return error;
    for (const std::string& line : texts_of(fields, "lines")) error.message += "\n" + line;
    return error;
  }
  JsonFields fields(text, "daemon's answer");
  ReloadReport report{printable(fields.string("file", kLongestText), kLongestText),
                      texts_of(fields, "at_once"), texts_of(fields, "new_programs"),
                      texts_of(fields, "restart"), texts_of(fields, "warnings")};
  if (!fields.ok()) return fields.error();
  return report;
}

std::string to_text(const WhoAmI& who) {
  return json_text(json{{"ok", true},
                        {"uid", who.uid},
                        {"user", who.user},
                        {"counts_for", json_of(who.counts_for)},
                        {"groups", who.groups},
                        {"cgroup", json_of(who.cgroup)},
                        {"container", json_of(who.container)},
                        {"rule", json_of(who.rule)},
                        {"tenant", who.tenant},
                        {"class", json_of(who.class_name)},
                        {"weight", who.weight},
                        {"min", who.min},
                        {"max", who.max},
                        {"service", who.service},
                        {"memory_limits", who.memory_limits},
                        {"devices", who.devices},
                        {"device_choice", who.device_choice},
                        {"refusal", json_of(who.refusal)},
                        {"administrator", who.administrator},
                        {"direct", who.direct ? json(session::to_text(*who.direct)) : json()},
                        {"cuda_library", who.cuda_library}});
}

Result<WhoAmI> parse_whoami(std::string_view text) {
  FAIRGV_CHECK(parse_outcome(text));
  JsonFields fields(text, "daemon's answer");
  WhoAmI who;
  who.uid = fields.integer32("uid");
  who.user = printable(fields.string("user", kLongestText), kLongestText);
  who.counts_for = text_if_any(fields, "counts_for");
  who.groups = fields.integers("groups", kMostLines);
  who.cgroup = text_if_any(fields, "cgroup");
  who.container = text_if_any(fields, "container");
  who.rule = text_if_any(fields, "rule");
  who.tenant = printable(fields.string("tenant", kLongestText), kLongestText);
  who.class_name = text_if_any(fields, "class");
  who.weight = fields.integer32("weight");
  who.min = text_if_any(fields, "min").value_or("");
  who.max = text_if_any(fields, "max").value_or("");
  who.service = text_if_any(fields, "service").value_or("");
  who.memory_limits = fields.integers("memory_limits", kMostLines);
  who.devices = text_if_any(fields, "devices").value_or("");
  if (fields.has("device_choice")) who.device_choice = texts_of(fields, "device_choice");
  who.refusal = text_if_any(fields, "refusal");
  who.administrator = fields.boolean("administrator");
  if (const auto direct = text_if_any(fields, "direct")) who.direct = session::parse_direct_mode(*direct);
  who.cuda_library = text_if_any(fields, "cuda_library").value_or("");
  if (!fields.ok()) return fields.error();
  return who;
}

std::string to_text(const FrontAnswer& answer) {
  return json_text(json{{"ok", true}, {"front", answer.front}, {"refused", answer.refused}});
}

Result<FrontAnswer> parse_front_answer(std::string_view text) {
  FAIRGV_CHECK(parse_outcome(text));
  JsonFields fields(text, "daemon's answer");
  FrontAnswer answer{texts_of(fields, "front"), texts_of(fields, "refused")};
  if (!fields.ok()) return fields.error();
  return answer;
}

std::string config_text(const std::string& toml) {
  return json_text(json{{"ok", true}, {"config", toml}});
}

Result<std::string> parse_config_answer(std::string_view text) {
  FAIRGV_CHECK(parse_outcome(text));
  JsonFields fields(text, "daemon's answer");
  std::string toml = fields.string("config", kLongestConfig);
  if (!fields.ok()) return fields.error();
  return toml;
}

}  // namespace fairgv::control
