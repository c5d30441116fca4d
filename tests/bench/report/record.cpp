#include "tests/bench/report/record.hpp"

#include <nlohmann/json.hpp>

namespace fairgv::bench::report {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Attempt, name, purpose, command, when, version, seconds, load, status,
                                   quick, remark)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Record, machine, attempts)

std::string to_json(const Record& record) {
  return nlohmann::json(record).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

Result<Record> record_from_json(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<Record>();
  } catch (const nlohmann::json::exception& error) {
    return Error{error.what()};
  }
}

void note(Record& record, Attempt attempt) {
  for (Attempt& each : record.attempts) {
    if (each.name != attempt.name) continue;
    each = std::move(attempt);
    return;
  }
  record.attempts.push_back(std::move(attempt));
}

}  // namespace fairgv::bench::report
