#include "tests/workloads/support/target.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "tests/workloads/support/options.hpp"

namespace workloads {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

std::optional<std::size_t> as_index(const std::string& text) {
  std::size_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, index);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return index;
}

}  // namespace

std::size_t choose(const char* option, const std::string& wanted, const std::vector<std::string>& names) {
  if (const auto index = as_index(wanted)) {
    if (*index < names.size()) return *index;
  } else {
    for (std::size_t position = 0; position < names.size(); ++position) {
      if (lower_case(names[position]).find(lower_case(wanted)) != std::string::npos) return position;
    }
  }
  std::string line = std::string(option) + " '" + wanted + "' matches none of:";
  for (std::size_t position = 0; position < names.size(); ++position) {
    line += (position == 0 ? " " : ", ") + std::to_string(position) + " (" + names[position] + ")";
  }
  throw BadInput(line);
}

}  // namespace workloads
