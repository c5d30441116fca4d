// The target of a path, and the symbolic links on the way: enough to lay out a small copy of a file system in
// which the same paths lead to the same files.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fairgv::icd::includes {

/// The links and folders that the copy needs beside files. All paths are absolute, without links, "." and
/// "..".
struct Ways {
  std::map<std::string, std::string> links;  // the path of a link, and where it leads in the end
  std::set<std::string> folders;             // folders that a path enters and leaves again by ".."
};

/// The target of the absolute path; nothing if there is none. Links and folders on the way are added to
/// `ways`.
std::optional<std::string> trace_path(std::string_view path, Ways& ways);

}  // namespace fairgv::icd::includes
