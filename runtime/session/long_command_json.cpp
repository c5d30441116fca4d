#include "runtime/session/long_command_json.hpp"

#include <cstdint>
#include <limits>

namespace fairgv::session {
namespace {

// Text that was not UTF-8 has grown on its way.
constexpr std::size_t kLongestOnItsWay = 3 * kLongestCommandText;
/// The most that std::chrono::nanoseconds can hold.
constexpr std::uint64_t kLongestTime = std::numeric_limits<std::int64_t>::max();

std::string text(JsonFields& fields, const char* key) {
  return printable(fields.string(key, kLongestOnItsWay), kLongestCommandText);
}

}  // namespace

nlohmann::json to_json(const LongCommand& command) {
  return {{"device", command.device},         {"name", command.name},
          {"reason", command.reason},         {"count", command.count},
          {"longest_ns", command.longest_ns}, {"total_ns", command.total_ns}};
}

LongCommand long_command_from(JsonFields& fields) {
  LongCommand command{fields.integer32("device"),
                      text(fields, "name"),
                      text(fields, "reason"),
                      fields.integer("count", 1),
                      fields.integer("longest_ns", 0, kLongestTime),
                      fields.integer("total_ns", 0, kLongestTime)};
  if (fields.ok() && command.longest_ns > command.total_ns) {
    fields.fail("has a 'longest_ns' that is longer than 'total_ns'");
  }
  return command;
}

}  // namespace fairgv::session
