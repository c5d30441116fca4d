#include "runtime/session/journal/journal_report.hpp"

#include <utility>

#include "runtime/base/json_fields.hpp"

namespace fairgv::session {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestCallName = 64;

}  // namespace

std::string to_text(const JournalReport& report) {
  json calls = json::array();
  for (const JournalReport::Call& call : report.calls) {
    json each{{"number", call.number}, {"call", call.name},   {"object", call.object},
              {"bytes", call.bytes},   {"needs", call.needs}, {"generation", call.generation}};
    if (call.released) each["released"] = true;
    calls.push_back(std::move(each));
  }
  return json_text(json{{"ok", true},
                        {"bytes", report.bytes},
                        {"gave_up", report.gave_up},
                        {"left_out", report.left_out},
                        {"calls", std::move(calls)}});
}

Result<JournalReport> parse_journal_report(std::string_view text) {
  JsonFields fields(text, "journal");
  JournalReport report{fields.integer("bytes"), fields.boolean("gave_up"), fields.integer("left_out"), {}};
  for (json& element : fields.list("calls", kMostReportedCalls)) {
    auto each = JsonFields::nested(std::move(element), "journal's call");
    report.calls.push_back(
        {each.integer("number"), printable(each.string("call", kLongestCallName), kLongestCallName),
         each.integer32("object"), each.integer32("generation"), each.integer("bytes"),
         each.integers("needs", kMostReportedNeeds), each.has("released") && each.boolean("released")});
    if (!each.ok()) return each.error();
  }
  if (!fields.ok()) return fields.error();
  return report;
}

std::string to_text(const ShowJournal&) {
  return json_text(json{{"order", "show journal"}});
}

std::string to_text(const JournalShown& answer) {
  return json_text(json{{"worker", "journal"}, {"bytes", answer.bytes}});
}

}  // namespace fairgv::session
