// The project's own files, for tests that compare the documentation with the sources.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace fairgv::icd {

inline const std::filesystem::path kRoot = FAIRGV_SOURCE_DIR;

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace fairgv::icd
