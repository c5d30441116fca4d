#include "tools/fairgv/doctor/process_limits.hpp"

#include <charconv>
#include <sstream>

namespace fairgv::tools::doctor {
namespace {

std::optional<std::uint64_t> parse(const std::string& word) {
  if (word == "unlimited") return kUnlimited;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<ProcessLimit> process_limit(const Machine& machine, const std::string& process,
                                          const std::string& name) {
  std::istringstream lines(machine.text(process + "/limits").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + " ")) continue;
    std::istringstream words(line.substr(name.size()));
    std::string soft;
    std::string hard;
    words >> soft >> hard;
    const auto soft_number = parse(soft);
    const auto hard_number = parse(hard);
    if (!soft_number || !hard_number) return std::nullopt;
    return ProcessLimit{*soft_number, *hard_number};
  }
  return std::nullopt;
}

}  // namespace fairgv::tools::doctor
