// The functions that a shared library exports, by nm.
#pragma once

#include <array>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>

/// Empty without nm or the library.
inline std::set<std::string> exported_by(const std::string& library) {
  std::set<std::string> names;
  const std::string command = "nm -D --defined-only '" + library + "' 2>/dev/null";
  FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) return names;
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    std::istringstream words(line.data());
    std::string address, kind, name;
    if (words >> address >> kind >> name && kind == "T") names.insert(name);
  }
  pclose(output);
  return names;
}
