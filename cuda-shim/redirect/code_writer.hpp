// Changes code, and tables beside it, that are loaded in this process. No page is writable and executable at
// the same time, and each has the protection that it had when write() is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fairgv::redirect {

struct CodeChange {
  std::uintptr_t address = 0;
  std::vector<std::byte> bytes;
};

/// The mapping of a file that the code or table belongs to: a segment of a loaded object.
struct CodeMapping {
  std::uintptr_t begin = 0;  // at a page's beginning
  std::uintptr_t end = 0;
  int protection = 0;        // as mmap(2) has it
  int file = -1;             // open for reading
  std::uint64_t offset = 0;  // of `begin` in the file
};

/// Writes all changes, which lie in the mapping. No thread may run this code meanwhile. Where the system does
/// not let changed code be executed again (SELinux, seccomp, PR_SET_MDWE), the pages are mapped from the file
/// anew, unchanged. Returns why it did not change the code, or nothing.
std::string write_code(std::span<const CodeChange> changes, const CodeMapping& mapping);

}  // namespace fairgv::redirect
