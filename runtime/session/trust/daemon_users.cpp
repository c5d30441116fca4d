#include "runtime/session/trust/daemon_users.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

namespace fairgv::session {
namespace {

constexpr std::string_view kSpace = " \t\r\v\f";
/// The longest login that Linux allows, and names from directories of other systems.
constexpr std::size_t kLongestName = 64;
/// (uid_t)-1 stands for "no user".
constexpr uid_t kNoUser = std::numeric_limits<uid_t>::max();

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

template <class Number>
std::optional<Number> number_in(std::string_view word) {
  Number number = 0;
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc{} || stop != word.data() + word.size()) return std::nullopt;
  return number;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name(std::string_view word) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
           std::string_view("_-.@$\\").find(c) != std::string_view::npos;
  };
  return word.size() <= kLongestName && word.front() != '-' && std::all_of(word.begin(), word.end(), fits);
}

/// A readable form of a word that may hold anything.
std::string shown(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, kLongestName)) text += c >= ' ' && c <= '~' ? c : '?';
  return word.size() > kLongestName ? text + "..." : text;
}

}  // namespace

Result<DaemonUsers> parse_daemon_users(std::string_view text, const std::string& source) {
  if (text.size() > kLongestDaemonUsers) {
    return Error{source + " is longer than " + std::to_string(kLongestDaemonUsers) +
                 " bytes: name fewer users"};
  }
  DaemonUsers users;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view all = next_line(text);
    const std::string_view word = trimmed(all.substr(0, all.find('#')));
    if (word.empty()) continue;
    const bool is_number = std::all_of(word.begin(), word.end(), is_digit);
    const auto number = number_in<uid_t>(word);
    if (is_number ? !number || *number == kNoUser : !is_name(word)) {
      return Error{source + ":" + std::to_string(line) + ": '" + shown(word) +
                   "' is no user: write one name or number a line"};
    }
    if (is_number) {
      users.numbers.push_back(*number);
    } else {
      users.names.emplace_back(word);
    }
  }
  return users;
}

bool maps_every_user(std::string_view uid_map) {
  std::uint64_t mapped = 0;
  while (!uid_map.empty()) {
    std::string_view line = next_line(uid_map);
    std::array<std::uint64_t, 3> columns{};  // first number here, first number outside, how many
    for (std::uint64_t& column : columns) {
      line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
      const std::string_view word = line.substr(0, line.find_first_of(kSpace));
      const auto number = number_in<std::uint32_t>(word);
      if (!number) return true;  // nothing is known: then no number stands for several users
      column = *number;
      line.remove_prefix(word.size());
    }
    mapped += columns[2];
  }
  // Ranges do not overlap, says the kernel. Without a map (no /proc) nothing is known, either.
  return mapped == 0 || mapped >= kNoUser;
}

}  // namespace fairgv::session
