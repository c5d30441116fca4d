#include "tests/workloads/support/json_line.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace workloads {
namespace {

std::string quote(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      quoted += '\\';
      quoted += letter;
    } else if (code < 0x20) {
      quoted += "\\u00";
      quoted += kHex[code >> 4U];
      quoted += kHex[code & 15U];
    } else {
      quoted += letter;
    }
  }
  return quoted + '"';
}

}  // namespace

JsonLine& JsonLine::raw(std::string_view key, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_ += quote(key);
  members_ += ':';
  members_ += value;
  return *this;
}

JsonLine& JsonLine::text(std::string_view key, std::string_view value) {
  return raw(key, quote(value));
}

JsonLine& JsonLine::boolean(std::string_view key, bool value) {
  return raw(key, value ? "true" : "false");
}

JsonLine& JsonLine::null(std::string_view key) {
  return raw(key, "null");
}

JsonLine& JsonLine::count(std::string_view key, std::uint64_t value) {
  return raw(key, std::to_string(value));
}

JsonLine& JsonLine::number(std::string_view key, double value, int decimals) {
  // to_chars, not printf: JSON wants a point whatever the locale says.
  std::array<char, 400> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, decimals);
  if (error != std::errc{}) return null(key);
  return raw(key, std::string_view(digits.data(), end));
}

void JsonLine::print() const {
  std::printf("{%s}\n", members_.c_str());
  std::fflush(stdout);
}

}  // namespace workloads
