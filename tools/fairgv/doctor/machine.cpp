#include "tools/fairgv/doctor/machine.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string_view>

#include "runtime/session/paths.hpp"

namespace fairgv::tools::doctor {

Machine Machine::here() {
  Machine machine;
  for (char* const* each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const auto equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    machine.environment.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  machine.user = ::geteuid();
  if (const auto folder = session::program_directory()) machine.programs = folder.value();
  return machine;
}

std::optional<std::string> Machine::text(const std::filesystem::path& path) const {
  std::ifstream file(at(path));
  std::ostringstream text;
  // A folder opens, but cannot be read; an empty file sets the stream's fail bit, and is fine.
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    return file.is_open() && !file.bad() ? std::optional(std::string()) : std::nullopt;
  }
  text << file.rdbuf();
  std::string whole = text.str();
  if (whole.ends_with('\n')) whole.pop_back();
  return whole;
}

std::string Machine::variable(const std::string& name) const {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

}  // namespace fairgv::tools::doctor
