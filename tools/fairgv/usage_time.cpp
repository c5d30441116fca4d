#include "tools/fairgv/usage_time.hpp"

#include <charconv>
#include <cstdio>
#include <ctime>
#include <optional>

namespace fairgv::tools {
namespace {

constexpr std::int64_t kSecond = 1'000;
constexpr std::int64_t kDay = 86'400 * kSecond;
constexpr std::int64_t kLongestAgo = 36'500;  // days

std::optional<std::int64_t> length_of(char unit) {
  switch (unit) {
    case 's':
      return kSecond;
    case 'm':
      return 60 * kSecond;
    case 'h':
      return 3'600 * kSecond;
    case 'd':
      return kDay;
    case 'w':
      return 7 * kDay;
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> ago(const std::string& text, std::int64_t now_ms) {
  if (text.size() < 2) return std::nullopt;
  std::int64_t count = 0;
  const char* const last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), last, count);
  const auto unit = length_of(*last);
  if (error != std::errc() || end != last || count < 0 || !unit) return std::nullopt;
  if (count > kLongestAgo * kDay / *unit) return std::nullopt;
  return now_ms - count * *unit;
}

/// Days of the calendar, not of 24 hours: `days` before the one that `now_ms` is in.
std::int64_t midnight(std::int64_t now_ms, int days) {
  const std::time_t now = now_ms / kSecond;
  std::tm parts{};
  ::localtime_r(&now, &parts);
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  parts.tm_mday -= days;
  parts.tm_isdst = -1;
  return std::mktime(&parts) * kSecond;
}

/// Digits and separators exactly as in `form`, whose 0 stand for digits.
bool has_form(const std::string& text, const std::string& form) {
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool fits = form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i];
    if (!fits) return false;
  }
  return true;
}

std::optional<std::int64_t> calendar(std::string text) {
  const bool utc = text.ends_with('Z');
  if (utc) text.pop_back();
  if (has_form(text, "0000-00-00")) text += "T00:00:00";
  if (has_form(text, "0000-00-00T00:00") || has_form(text, "0000-00-00 00:00")) text += ":00";
  if (!has_form(text, "0000-00-00T00:00:00") && !has_form(text, "0000-00-00 00:00:00")) return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t length) { return std::stoi(text.substr(at, length)); };
  std::tm parts{};
  parts.tm_year = part(0, 4) - 1900;
  parts.tm_mon = part(5, 2) - 1;
  parts.tm_mday = part(8, 2);
  parts.tm_hour = part(11, 2);
  parts.tm_min = part(14, 2);
  parts.tm_sec = part(17, 2);
  parts.tm_isdst = -1;
  std::tm normal = parts;
  const std::time_t time = utc ? ::timegm(&normal) : std::mktime(&normal);
  // The thirty-first of April would become the first of May, which was not meant.
  const bool exists = normal.tm_year == parts.tm_year && normal.tm_mon == parts.tm_mon &&
                      normal.tm_mday == parts.tm_mday && part(11, 2) < 24 && part(14, 2) < 60 &&
                      part(17, 2) < 60;
  if (!exists || time < 0) return std::nullopt;
  return time * kSecond;
}

}  // namespace

Result<std::int64_t> parse_time(const std::string& text, const std::string& option, std::int64_t now_ms) {
  if (text == "now") return now_ms;
  if (text == "today") return midnight(now_ms, 0);
  if (text == "yesterday") return midnight(now_ms, 1);
  if (const auto time = ago(text, now_ms)) return *time;
  if (const auto time = calendar(text)) return *time;
  return Error{
      option + " '" + text +
      "' is no time: give a day (2026-12-31), a time (2026-12-31T18:30, with Z in UTC), how long ago "
      "(90s, 30m, 2h, 7d, 4w), today or yesterday"};
}

}  // namespace fairgv::tools
