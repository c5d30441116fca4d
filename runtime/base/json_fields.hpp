// Reading a JSON object that somebody else wrote: every field is checked, nothing throws, and the first thing
// that is wrong is kept as one line.
//
// The building blocks of the protocols' parsers, and of the daemon's hand-over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/memory_size.hpp"
#include "runtime/base/result.hpp"

namespace fairgv {

/// The longest text of a field whose reader has no limit of its own: paths, reasons, versions.
inline constexpr std::size_t kLongestText = 4096;

class JsonFields {
 public:
  /// `what` names the message in error texts: "hello". The text is parsed; trailing bytes are an error.
  JsonFields(std::string_view text, std::string what);
  /// A nested object, already parsed.
  static JsonFields nested(nlohmann::json object, std::string what);

  bool ok() const { return !error_; }
  Error error() const { return Error{error_.value_or("")}; }
  void fail(const std::string& why);

  bool has(const char* key) const;  // present and not null
  std::string string(const char* key, std::size_t longest);
  std::uint64_t integer(const char* key, std::uint64_t smallest = 0,
                        std::uint64_t largest = std::numeric_limits<std::uint64_t>::max());
  std::uint32_t integer32(const char* key, std::uint32_t smallest = 0,
                          std::uint32_t largest = std::numeric_limits<std::uint32_t>::max());
  double number(const char* key);
  /// Text that parse_memory_size() reads; `source` as there.
  MemorySize memory_size(const char* key, const std::string& source);
  bool boolean(const char* key);
  nlohmann::json object(const char* key);
  /// The elements of an array field.
  std::vector<nlohmann::json> list(const char* key, std::size_t longest);
  /// The same of an array of integers from 0 on.
  std::vector<std::uint64_t> integers(const char* key, std::size_t longest);

 private:
  JsonFields() = default;
  const nlohmann::json* find(const char* key, const char* type);

  nlohmann::json object_;
  std::string what_;
  std::optional<std::string> error_;
};

/// One line of JSON; text that is not UTF-8 is made so.
std::string json_text(const nlohmann::json& json);

/// `text` cut to `longest` bytes, as UTF-8, with '?' for everything else, for control characters and for what
/// changes the direction of writing: safe for a terminal and a log.
std::string printable(std::string_view text, std::size_t longest);

}  // namespace fairgv
