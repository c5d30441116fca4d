#include "runtime/control/checkpoint/facts.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/json_fields.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::control {
namespace {

using nlohmann::json;

/// Nothing that a machine of today holds is longer.
constexpr std::uint64_t kLongestPart = std::uint64_t{1} << 46;

template <std::size_t N>
void read_numbers(JsonFields& fields, const char* key, std::array<std::uint64_t, N>& numbers) {
  const auto list = fields.integers(key, N);
  if (list.size() != N) return fields.fail("has too few numbers in '" + std::string(key) + "'");
  std::copy(list.begin(), list.end(), numbers.begin());
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

}  // namespace

json to_json(const CheckpointFacts& facts) {
  return {{"fairgv", facts.fairgv},
          {"protocol", facts.protocol},
          {"api", facts.api},
          {"program", facts.program},
          {"devices", facts.devices},
          {"hidden", facts.hidden},
          {"place", facts.place},
          {"layout", facts.layout},
          {"image_bytes", facts.image_bytes},
          {"contents_bytes", facts.contents_bytes},
          {"file_bytes", facts.file_bytes},
          {"holdings", facts.holdings},
          {"session", facts.session},
          {"tenant", facts.tenant},
          {"made_s", facts.made_s}};
}

Result<CheckpointFacts> checkpoint_facts_from(json object) {
  auto fields = JsonFields::nested(std::move(object), "checkpoint");
  const auto text = [&fields](const char* key) {
    return printable(fields.string(key, kLongestText), kLongestText);
  };
  CheckpointFacts facts;
  facts.fairgv = text("fairgv");
  facts.protocol = fields.integer32("protocol");
  facts.api = text("api");
  facts.program = text("program");
  for (const json& device : fields.list("devices", session::kMaxDevices)) {
    if (!device.is_string()) fields.fail("has a device that is no text");
    facts.devices.push_back(device.is_string() ? printable(device.get<std::string>(), kLongestText) : "");
  }
  facts.hidden = fields.integer("hidden");
  read_numbers(fields, "place", facts.place);
  read_numbers(fields, "layout", facts.layout);
  facts.image_bytes = fields.integer("image_bytes", 0, kLongestPart);
  facts.contents_bytes = fields.integer("contents_bytes", 0, kLongestPart);
  facts.file_bytes = fields.integer("file_bytes");
  facts.holdings = fields.integers("holdings", session::kMaxDevices);
  facts.session = fields.integer32("session");
  facts.tenant = text("tenant");
  facts.made_s = static_cast<std::int64_t>(fields.integer("made_s", 0, kLongestPart));
  if (!fields.ok()) return fields.error();
  return facts;
}

std::string why_not(const CheckpointFacts& file, const CheckpointFacts& session) {
  if (file.fairgv != session.fairgv)
    return "the checkpoint is of FairGV " + file.fairgv + ", and this is FairGV " + session.fairgv;
  if (file.protocol != session.protocol) {
    return "the checkpoint's calls are those of protocol " + std::to_string(file.protocol) +
           ", and the session speaks " + std::to_string(session.protocol);
  }
  if (file.api != session.api)
    return "the checkpoint is of a program of " + file.api + ", and the session speaks " + session.api;
  if (file.program != session.program)
    return "the checkpoint is of the program " + file.program + ", and the session's is " + session.program;
  if (file.devices != session.devices || file.hidden != session.hidden) {
    return "the checkpoint's program had other devices, or saw others of them: " + list_of(file.devices) +
           "; the session has " + list_of(session.devices);
  }
  if (file.layout != session.layout || file.contents_bytes != session.contents_bytes)
    return "the checkpoint's shared memory has another layout than the session's (shared_memory)";
  if (file.place != session.place) {
    return "its program is at another place than the checkpoint's was: it has made " +
           std::to_string(session.place[0]) + " slots of calls and the other " +
           std::to_string(file.place[0]) + ", or has had other answers since";
  }
  return "";
}

}  // namespace fairgv::control
