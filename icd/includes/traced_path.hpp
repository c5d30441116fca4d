// Where a path leads, and by which symbolic links: enough to lay out a small copy of a file system in which
// the same paths lead to the same files.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fairgv::icd::includes {

/// What the copy needs beside files. All paths are absolute, without links, "." and "..".
struct Ways {
  std::map<std::string, std::string> links;  // the path of a link, and where it leads in the end
  std::set<std::string> folders;             // that a path goes through to leave them by ".."
};

/// Where the absolute path leads; nothing if it leads nowhere. What it goes through is added to `ways`.
std::optional<std::string> trace_path(std::string_view path, Ways& ways);

}  // namespace fairgv::icd::includes
