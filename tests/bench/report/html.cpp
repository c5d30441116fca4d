#include "tests/bench/report/html.hpp"

#include <cstddef>
#include <cstdint>

namespace fairgv::bench::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Bytes of the UTF-8 sequence that `text` begins with; 0 if it begins with none, with one that is longer
/// than needed, or with a surrogate or a character that XML does not allow.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF5   ? 0
                             : first >= 0xF0 ? 4
                             : first >= 0xE0 ? 3
                             : first >= 0xC2 ? 2
                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t character = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
    character = character << 6U | (byte(i) & 0x3FU);
  }
  const bool too_long = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  const bool no_character = character == 0xFFFE || character == 0xFFFF || character > 0x10FFFF;
  return too_long || surrogate || no_character ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const char letter = text[0];
    if (length == 0 || (length == 1 && letter < ' ' && letter != '\t' && letter != '\n') ||
        letter == '\x7f') {
      result += kReplacement;
    } else if (letter == '&') {
      result += "&amp;";
    } else if (letter == '<') {
      result += "&lt;";
    } else if (letter == '>') {
      result += "&gt;";
    } else if (letter == '"') {
      result += "&quot;";
    } else if (letter == '\'') {
      result += "&#39;";
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8U | (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      result += i + j <= bytes.size() ? kLetters[group >> (18 - 6 * j) & 63U] : '=';
    }
  }
  return result;
}

}  // namespace fairgv::bench::report
