// The files of the source tree, for tests of their texts.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace fairgv::docs {

inline const std::filesystem::path kRoot = FAIRGV_SOURCE_DIR;

inline std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Files with one of these endings, in the project's own folders: build trees and hidden folders are left
/// out.
inline std::vector<std::filesystem::path> files_ending(const std::vector<std::string>& endings,
                                                       const std::filesystem::path& below = kRoot) {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  for (auto each = fs::recursive_directory_iterator(below); each != fs::recursive_directory_iterator();
       ++each) {
    const std::string name = each->path().filename();
    const bool is_build = each.depth() == 0 && below == kRoot && name == "build";
    if (each->is_directory() && (name.starts_with(".") || is_build)) each.disable_recursion_pending();
    if (each->is_regular_file() &&
        std::find(endings.begin(), endings.end(), each->path().extension()) != endings.end()) {
      found.push_back(each->path());
    }
  }
  return found;
}

}  // namespace fairgv::docs
