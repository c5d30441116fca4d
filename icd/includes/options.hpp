// The files in the options of a build: folders to look in, files to begin with, and macros that may name
// files.
//
// Drivers parse options differently. Everything that any driver could take for a folder or a file is found;
// which files exist decides the rest.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "icd/includes/directives.hpp"

namespace fairgv::icd::includes {

/// A macro of -D that may stand for an absolute path, or the beginning of one.
struct PathMacro {
  std::string value;
  std::uint32_t place;  // where in the options the path begins
};

struct FileOptions {
  std::vector<std::string> folders;     // of -I and its relatives, in their order
  std::vector<std::string> files;       // of -include and -imacros
  std::vector<Macro> macros;            // of -D
  std::vector<PathMacro> path_macros;   // some of those
  std::vector<std::uint32_t> absolute;  // where an absolute path of `folders` or `files` begins
};

FileOptions read_file_options(std::string_view options);

/// The options with the paths at `places` moved below `root`. `marks` move along.
std::string with_paths_below(std::string_view root, std::string_view options,
                             const std::set<std::uint32_t>& places, std::vector<std::uint32_t>& marks);

}  // namespace fairgv::icd::includes
