#include "runtime/base/json_fields.hpp"

#include <utility>

namespace fairgv {
namespace {

/// A character of UTF-8 and the number of its bytes. For bytes that are no character, the code is a control
/// character's.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(at) & 0x3fU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x1'0000};
  const bool half = code >= 0xd800 && code < 0xe000;  // of a pair in UTF-16
  if (code < kSmallest[bytes] || code > 0x10'ffff || half) return {};
  return {code, bytes};
}

/// Nothing that a terminal or the reader of a line obeys: control characters (some terminals obey those from
/// 80 to 9F, too), ends of lines and paragraphs, changes of the direction of writing.
bool is_plain(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool layout = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
                      code == 0x200e || code == 0x200f || code == 0xfeff;
  return !control && !layout;
}

/// No message of ours is nested deeper. Copying and destroying a value recurses, so the depth must be
/// bounded.
constexpr int kDeepest = 8;

/// A discarded value if the text is not JSON or nested too deep.
nlohmann::json parse(std::string_view text) {
  bool too_deep = false;
  nlohmann::json value = nlohmann::json::parse(
      text,
      [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        if (depth > kDeepest) too_deep = true;
        return !too_deep;
      },
      false);
  return too_deep ? nlohmann::json(nlohmann::json::value_t::discarded) : value;
}

}  // namespace

JsonFields::JsonFields(std::string_view text, std::string what)
    : object_(parse(text)), what_(std::move(what)) {
  if (object_.is_discarded()) {
    fail("is not JSON, or nested too deep");
  } else if (!object_.is_object()) {
    fail("is not a JSON object");
  }
}

JsonFields JsonFields::nested(nlohmann::json object, std::string what) {
  JsonFields fields;
  fields.object_ = std::move(object);
  fields.what_ = std::move(what);
  if (!fields.object_.is_object()) fields.fail("is not a JSON object");
  return fields;
}

void JsonFields::fail(const std::string& why) {
  if (!error_) error_ = "the " + what_ + " message " + why;
}

bool JsonFields::has(const char* key) const {
  if (!object_.is_object()) return false;
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null();
}

const nlohmann::json* JsonFields::find(const char* key, const char* type) {
  if (has(key)) return &*object_.find(key);
  fail(std::string("lacks '") + key + "' (" + type + ")");
  return nullptr;
}

std::string JsonFields::string(const char* key, std::size_t longest) {
  const nlohmann::json* const value = find(key, "text");
  if (value == nullptr) return {};
  const auto* const text = value->get_ptr<const std::string*>();
  if (text != nullptr && text->size() <= longest) return *text;
  fail(std::string("has a '") + key + "' that is not text of at most " + std::to_string(longest) + " bytes");
  return {};
}

std::uint32_t JsonFields::integer32(const char* key, std::uint32_t smallest, std::uint32_t largest) {
  return static_cast<std::uint32_t>(integer(key, smallest, largest));
}

std::uint64_t JsonFields::integer(const char* key, std::uint64_t smallest, std::uint64_t largest) {
  const nlohmann::json* const value = find(key, "integer");
  if (value == nullptr) return smallest;
  // A negative number is not unsigned for the parser, nor is 1.0.
  if (const auto* const number = value->get_ptr<const std::uint64_t*>();
      number != nullptr && *number >= smallest && *number <= largest) {
    return *number;
  }
  fail(std::string("has a '") + key + "' that is not an integer from " + std::to_string(smallest) + " to " +
       std::to_string(largest));
  return smallest;
}

double JsonFields::number(const char* key) {
  const nlohmann::json* const value = find(key, "number");
  if (value == nullptr) return 0;
  if (value->is_number()) return value->get<double>();
  fail(std::string("has a '") + key + "' that is not a number");
  return 0;
}

MemorySize JsonFields::memory_size(const char* key, const std::string& source) {
  const std::string text = string(key, kLongestMemorySize);
  if (!ok()) return {};
  const auto size = parse_memory_size(text, source);
  if (size) return size.value();
  fail("is refused: " + size.error().message);
  return {};
}

bool JsonFields::boolean(const char* key) {
  const nlohmann::json* const value = find(key, "true or false");
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  fail(std::string("has a '") + key + "' that is neither true nor false");
  return false;
}

nlohmann::json JsonFields::object(const char* key) {
  const nlohmann::json* const value = find(key, "object");
  return value == nullptr ? nlohmann::json::object() : *value;
}

std::vector<nlohmann::json> JsonFields::list(const char* key, std::size_t longest) {
  const nlohmann::json* const value = find(key, "list");
  if (value == nullptr) return {};
  if (value->is_array() && value->size() <= longest) return {value->begin(), value->end()};
  fail(std::string("has a '") + key + "' that is not a list of at most " + std::to_string(longest));
  return {};
}

std::vector<std::uint64_t> JsonFields::integers(const char* key, std::size_t longest) {
  std::vector<std::uint64_t> numbers;
  for (const nlohmann::json& element : list(key, longest)) {
    const auto* const number = element.get_ptr<const std::uint64_t*>();
    if (number == nullptr)
      fail(std::string("has a '") + key + "' with something else than integers from 0 on");
    numbers.push_back(number == nullptr ? 0 : *number);
  }
  return numbers;
}

std::string json_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string result;
  result.reserve(std::min(text.size(), longest));
  while (!text.empty()) {
    const Character character = first_of(text);
    const std::string_view bytes =
        is_plain(character.code) ? text.substr(0, character.bytes) : std::string_view("?");
    if (result.size() + bytes.size() > longest) break;
    result += bytes;
    text.remove_prefix(character.bytes);
  }
  return result;
}

}  // namespace fairgv
