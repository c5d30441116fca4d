#include "runtime/session/protocol.hpp"

#include <algorithm>

#include "runtime/base/json_fields.hpp"
#include "runtime/session/device/device_json.hpp"
#include "runtime/session/identity.hpp"
#include "runtime/session/long_command_json.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::session {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestReason = 4096;
constexpr std::size_t kLongestDeviceName = 256;

struct ApiName {
  Api api;
  std::string_view name;
};

constexpr ApiName kApis[] = {{Api::opencl, "opencl"}, {Api::cuda, "cuda"}};

std::string api_names() {
  std::string names;
  for (const ApiName& each : kApis) names += (names.empty() ? "" : ", ") + std::string(each.name);
  return names;
}

Error protocol_error(std::uint32_t theirs) {
  const std::string ours = kOldestProtocol == kProtocolVersion
                               ? std::to_string(kProtocolVersion)
                               : std::to_string(kOldestProtocol) + " to " + std::to_string(kProtocolVersion);
  return Error{"the client speaks protocol " + std::to_string(theirs) + " and the daemon speaks " + ours +
               ": use the front end and the daemon of one FairGV release"};
}

Api read_api(JsonFields& fields) {
  const std::string name = fields.string("api", kLongestReason);
  const auto api = parse_api(name);
  if (fields.ok() && !api) {
    fields.fail("speaks '" + printable(name, kLongestDeviceName) + "': known are " + api_names());
  }
  return api.value_or(Api::opencl);
}

/// Optional fields may be missing: an older front end does not know them.
void read_tenant_fields(JsonFields& fields, Hello& hello) {
  if (fields.has("tenant")) {
    hello.tenant = fields.string("tenant", kLongestReason);
    if (fields.ok() && !is_tenant_name(*hello.tenant)) {
      fields.fail("is refused: " + tenant_name_error(*hello.tenant, "the tenant's name").message);
    }
  }
  hello.wish = read_tenant_wish(fields);
  if (fields.has("program")) hello.program = printable(fields.string("program", 4096), kLongestProgramName);
  if (fields.has("slice")) {
    const auto slicing = parse_slicing_wish(fields.string("slice", kLongestReason), "FAIRGV_SLICE");
    if (slicing) hello.slicing = slicing.value();
    if (!slicing) fields.fail("is refused: " + slicing.error().message);
  }
  if (fields.has("memory")) hello.memory = fields.memory_size("memory", "FAIRGV_MEM");
  if (fields.has("api")) hello.api = read_api(fields);
  if (fields.has("direct")) hello.direct = fields.boolean("direct");
}

/// The texts of an array field, made harmless.
std::vector<std::string> texts(JsonFields& fields, const char* key, std::size_t most, std::size_t longest) {
  std::vector<std::string> list;
  for (const json& element : fields.list(key, most)) {
    if (!element.is_string()) {
      fields.fail("has something in '" + std::string(key) + "' that is no text");
      break;
    }
    list.push_back(printable(element.get_ref<const std::string&>(), longest));
  }
  return list;
}

}  // namespace

bool is_tenant_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '@' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestTenantName && std::all_of(name.begin(), name.end(), allowed);
}

Error tenant_name_error(std::string_view name, const std::string& source) {
  return Error{source + " is '" + printable(name, kLongestTenantName) +
               "': a tenant's name is 1 to 64 of A-Z a-z 0-9 _ . @ -"};
}

std::string to_text(Api api) {
  const auto* const known = std::ranges::find(kApis, api, &ApiName::api);
  return known == std::end(kApis) ? "unknown" : std::string(known->name);
}

std::optional<Api> parse_api(std::string_view name) {
  const auto* const known = std::ranges::find(kApis, name, &ApiName::name);
  return known == std::end(kApis) ? std::nullopt : std::optional(known->api);
}

std::string to_text(const Hello& hello) {
  json message{{"fairgv", "hello"}, {"protocol", hello.protocol}, {"features", hello.features}};
  if (hello.role == Hello::Role::control) {
    message["role"] = "control";
    return json_text(message);
  }
  message["role"] = "tenant";
  message["tenant"] = hello.tenant ? json(*hello.tenant) : json();
  add_to(message, hello.wish);
  message["program"] = hello.program;
  message["pid"] = hello.pid;
  if (hello.slicing != SlicingWish{}) message["slice"] = to_text(hello.slicing);
  if (hello.memory) message["memory"] = to_text(*hello.memory);
  if (hello.api != Api::opencl) message["api"] = to_text(hello.api);
  if (hello.direct) message["direct"] = true;
  return json_text(message);
}

std::optional<Names> parse_names(std::string_view text) {
  if (text == "fairgv") return Names::fairgv;
  if (text == "driver") return Names::driver;
  return std::nullopt;
}

std::string to_text(const Welcome& welcome) {
  json message{{"fairgv", "welcome"}, {"protocol", welcome.protocol}, {"features", welcome.features}};
  if (!welcome.tenant.empty()) {
    message["session"] = welcome.session;
    message["tenant"] = welcome.tenant;
    message["weight"] = welcome.weight;
    if (!welcome.memory_limits.empty()) message["memory_limits"] = welcome.memory_limits;
    if (welcome.names == Names::driver) message["names"] = "driver";
    if (welcome.hidden_devices != 0) message["hidden_devices"] = welcome.hidden_devices;
  }
  return json_text(message);
}

std::string to_text(const DirectEnds& ends) {
  json message{
      {"fairgv", "ends"}, {"session", ends.session}, {"slice_ms", ends.slice_ms}, {"samples", ends.samples}};
  if (!ends.library.empty()) message["library"] = ends.library;
  return json_text(message);
}

std::string to_text(const Refused& refused) {
  return json_text(json{{"fairgv", "refused"}, {"reason", refused.reason}});
}

std::string to_text(const DriverSays& message) {
  json object{{"fairgv", "driver"}, {"lines", message.lines}};
  if (message.answers != 0) object["answers"] = message.answers;
  return json_text(object);
}

std::string to_text(const Hear& question) {
  return json_text(json{{"fairgv", "hear"}, {"number", question.number}});
}

std::string to_text(const WorkerReady& ready) {
  json devices = json::array();
  for (const DeviceDescription& device : ready.devices) devices.push_back(to_json(device));
  json message{{"worker", "ready"}, {"devices", std::move(devices)}};
  if (ready.nameable != ~std::uint64_t{0}) message["nameable"] = ready.nameable;
  for (const std::string& reason : ready.unusable) {
    if (message["unusable"].size() == kMostUnusableDrivers) break;
    message["unusable"].push_back(reason.substr(0, kLongestFailure));
  }
  return json_text(message);
}

std::string to_text(const WorkerFailed& failed) {
  return json_text(json{{"worker", "failed"}, {"reason", failed.reason.substr(0, kLongestFailure)}});
}

std::string to_text(const LongCommand& command) {
  json message = to_json(command);
  message["worker"] = "long command";
  return json_text(message);
}

Result<Hello> parse_hello(std::string_view text) {
  JsonFields fields(text, "hello");
  if (fields.ok() && fields.string("fairgv", kLongestReason) != "hello") fields.fail("is not a hello");
  Hello hello;
  hello.protocol = fields.integer32("protocol");
  if (!fields.ok()) return fields.error();
  // Before anything else is looked at: another protocol may have other fields.
  if (hello.protocol < kOldestProtocol || hello.protocol > kProtocolVersion) {
    return protocol_error(hello.protocol);
  }
  hello.features = fields.has("features") ? fields.integer("features") : 0;
  const std::string role = fields.string("role", kLongestReason);
  if (role == "control") {
    hello.role = Hello::Role::control;
  } else if (role == "tenant") {
    read_tenant_fields(fields, hello);
  } else {
    fields.fail("has a 'role' that is neither 'tenant' nor 'control'");
  }
  if (!fields.ok()) return fields.error();
  return hello;
}

Result<std::variant<Welcome, Refused>> parse_hello_answer(std::string_view text) {
  using Answer = std::variant<Welcome, Refused>;
  JsonFields fields(text, "daemon's answer");
  const std::string kind = fields.string("fairgv", kLongestReason);
  if (kind == "refused") {
    Refused refused{printable(fields.string("reason", kLongestReason), kLongestReason)};
    if (!fields.ok()) return fields.error();
    return Answer(std::move(refused));
  }
  if (fields.ok() && kind != "welcome") fields.fail("is neither 'welcome' nor 'refused'");
  Welcome welcome;
  welcome.protocol = fields.integer32("protocol");
  welcome.features = fields.integer("features");
  if (fields.has("session")) {
    welcome.session = fields.integer32("session");
    welcome.tenant = fields.string("tenant", kLongestTenantName);
    welcome.weight = fields.integer32("weight", kMinWeight, kMaxWeight);
    if (fields.has("memory_limits")) welcome.memory_limits = fields.integers("memory_limits", kMaxDevices);
    // A word of a later release is no reason to refuse.
    if (fields.has("names")) {
      welcome.names = parse_names(fields.string("names", kLongestReason)).value_or(Names::fairgv);
    }
    if (fields.has("hidden_devices")) welcome.hidden_devices = fields.integer("hidden_devices");
  }
  if (!fields.ok()) return fields.error();
  return Answer(std::move(welcome));
}

Result<std::variant<DirectEnds, Welcome, Refused>> parse_direct_answer(std::string_view text) {
  using Answer = std::variant<DirectEnds, Welcome, Refused>;
  JsonFields fields(text, "daemon's answer");
  if (fields.string("fairgv", kLongestReason) != "ends") {
    auto other = parse_hello_answer(text);
    if (!other) return other.error();
    return std::visit([](auto& answer) { return Answer(std::move(answer)); }, other.value());
  }
  DirectEnds ends;
  ends.session = fields.integer32("session");
  if (fields.has("library")) ends.library = fields.string("library", kLongestReason);
  ends.slice_ms = fields.number("slice_ms");
  ends.samples = fields.integer32("samples", 1);
  if (!fields.ok()) return fields.error();
  return Answer(std::move(ends));
}

Result<DriverSays> parse_driver_says(std::string_view text) {
  JsonFields fields(text, "daemon's");
  if (fields.ok() && fields.string("fairgv", kLongestReason) != "driver") fields.fail("is not of a driver");
  DriverSays message{texts(fields, "lines", kMostDriverLines, kLongestDriverLine),
                     fields.has("answers") ? fields.integer("answers") : 0};
  if (!fields.ok()) return fields.error();
  return message;
}

Result<Hear> parse_hear(std::string_view text) {
  JsonFields fields(text, "client's");
  if (fields.ok() && fields.string("fairgv", kLongestReason) != "hear") fields.fail("is not 'hear'");
  const Hear question{fields.integer("number", 1)};
  if (!fields.ok()) return fields.error();
  return question;
}

Result<WorkerMessage> parse_worker_message(std::string_view text) {
  using Message = WorkerMessage;
  JsonFields fields(text, "worker's");
  const std::string kind = fields.string("worker", kLongestReason);
  if (kind == "failed") {
    WorkerFailed failed{printable(fields.string("reason", kLongestReason), kLongestFailure)};
    if (!fields.ok()) return fields.error();
    return Message(std::move(failed));
  }
  if (kind == "long command") {
    LongCommand command = long_command_from(fields);
    if (!fields.ok()) return fields.error();
    return Message(std::move(command));
  }
  if (kind == "journal") {
    const JournalShown shown{fields.integer("bytes", 0, kLongestJournalReport)};
    if (!fields.ok()) return fields.error();
    return Message(shown);
  }
  if (kind == "copied ahead") {
    const CopiedAhead copied{fields.integer("number"), fields.integer("bytes"), fields.integer("left")};
    if (!fields.ok()) return fields.error();
    return Message(copied);
  }
  if (kind == "image") {
    const ImageWritten written{fields.integer("bytes")};
    if (!fields.ok()) return fields.error();
    return Message(written);
  }
  if (kind == "cannot move") {
    CannotMove refusal{printable(fields.string("reason", kLongestReason), kLongestFailure)};
    if (!fields.ok()) return fields.error();
    return Message(std::move(refusal));
  }
  if (kind == "device failed") {
    DeviceFailed failed = device_failed_from(fields);
    if (!fields.ok()) return fields.error();
    return Message(std::move(failed));
  }
  if (kind == "trial") {
    TrialEnded ended = trial_ended_from(fields);
    if (!fields.ok()) return fields.error();
    return Message(std::move(ended));
  }
  if (kind == "made ahead") return Message(MadeAhead{});
  if (kind == "made again") return Message(MadeAgain{});
  if (fields.ok() && kind != "ready") {
    fields.fail(
        "is none of 'ready', 'failed', 'long command', 'journal', 'copied ahead', 'image', 'cannot move', "
        "'made ahead', 'made again', 'device failed' and 'trial'");
  }
  WorkerReady ready;
  for (json& element : fields.list("devices", kMaxDevices)) {
    auto device = JsonFields::nested(std::move(element), "worker's device");
    ready.devices.push_back(device_from(device));
    if (!device.ok()) return device.error();
  }
  if (fields.has("unusable")) {
    ready.unusable = texts(fields, "unusable", kMostUnusableDrivers, kLongestFailure);
  }
  if (fields.has("nameable")) ready.nameable = fields.integer("nameable");
  if (!fields.ok()) return fields.error();
  return Message(std::move(ready));
}

}  // namespace fairgv::session
