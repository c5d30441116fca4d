#include "runtime/control/usage.hpp"

#include "runtime/base/json_fields.hpp"
#include "runtime/base/near_word.hpp"
#include "runtime/control/protocol.hpp"

namespace fairgv::control {
namespace {

constexpr std::size_t kMostSums = 10'000'000;

const char* name_of(UsageBy by) {
  return kUsageByNames.at(static_cast<std::size_t>(by));
}

}  // namespace

UsageAmounts& UsageAmounts::operator+=(const UsageAmounts& other) {
  device_ns += other.device_ns;
  entitled_ns += other.entitled_ns;
  memory_byte_s += other.memory_byte_s;
  commands += other.commands;
  launches += other.launches;
  slices += other.slices;
  bytes += other.bytes;
  return *this;
}

nlohmann::json to_json(const UsageAmounts& amounts) {
  return {{"device_ns", amounts.device_ns},
          {"entitled_ns", amounts.entitled_ns},
          {"memory_byte_s", amounts.memory_byte_s},
          {"commands", amounts.commands},
          {"launches", amounts.launches},
          {"slices", amounts.slices},
          {"bytes", amounts.bytes}};
}

UsageAmounts usage_amounts_from(JsonFields& fields) {
  UsageAmounts amounts;
  amounts.device_ns = fields.integer("device_ns");
  amounts.entitled_ns = fields.integer("entitled_ns");
  amounts.memory_byte_s = fields.number("memory_byte_s");
  amounts.commands = fields.integer("commands");
  amounts.launches = fields.integer("launches");
  amounts.slices = fields.integer("slices");
  amounts.bytes = fields.integer("bytes");
  return amounts;
}

Result<UsageBy> parse_usage_by(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kUsageByNames.size(); ++i) {
    if (name == kUsageByNames[i]) return static_cast<UsageBy>(i);
    known += (known.empty() ? "" : ", ") + std::string(kUsageByNames[i]);
  }
  return Error{"usage is not told by '" + printable(name, 64) + "': " + guess_and_list(name, known)};
}

std::string to_text(const UsageQuery& query, const std::vector<UsageSum>& sums) {
  nlohmann::json rows = nlohmann::json::array();
  for (const UsageSum& sum : sums) {
    nlohmann::json row = to_json(sum.amounts);
    row["key"] = sum.key;
    rows.push_back(std::move(row));
  }
  return json_text(nlohmann::json{{"ok", true},
                                  {"by", name_of(query.by)},
                                  {"since_ms", query.since_ms},
                                  {"until_ms", query.until_ms},
                                  {"rows", std::move(rows)}});
}

Result<std::vector<UsageSum>> parse_usage(std::string_view answer) {
  FAIRGV_CHECK(parse_outcome(answer));
  JsonFields fields(answer, "daemon's answer");
  std::vector<UsageSum> sums;
  for (nlohmann::json& each : fields.list("rows", kMostSums)) {
    auto row = JsonFields::nested(std::move(each), "usage");
    sums.push_back({printable(row.string("key", kLongestText), kLongestText), usage_amounts_from(row)});
    if (!row.ok()) return row.error();
  }
  if (!fields.ok()) return fields.error();
  return sums;
}

}  // namespace fairgv::control
