#include "cuda-shim/redirect/code_writer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fairgv::redirect {
namespace {

struct Pages {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  void* start() const { return reinterpret_cast<void*>(begin); }
  std::size_t size() const { return end - begin; }
};

/// The pages between the first and the last change: the runtime's functions lie together.
Pages pages_of(std::span<const CodeChange> changes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  Pages pages{UINTPTR_MAX, 0};
  for (const CodeChange& change : changes) {
    pages.begin = std::min(pages.begin, change.address);
    pages.end = std::max(pages.end, change.address + change.bytes.size());
  }
  pages.begin -= pages.begin % page;
  pages.end += (page - pages.end % page) % page;
  return pages;
}

std::string error_text(const char* what, int code) {
  return std::string(what) + ": " + std::strerror(code);
}

}  // namespace

std::string write_code(std::span<const CodeChange> changes, const CodeMapping& mapping) {
  if (changes.empty()) return {};
  const Pages pages = pages_of(changes);
  if (pages.begin < mapping.begin || pages.end > mapping.end) return "its functions lie outside of its code";
  if (::mprotect(pages.start(), pages.size(), PROT_READ | PROT_WRITE) != 0)
    return error_text("its code cannot be made writable", errno);
  for (const CodeChange& change : changes)
    std::memcpy(reinterpret_cast<void*>(change.address), change.bytes.data(), change.bytes.size());
  if (::mprotect(pages.start(), pages.size(), mapping.protection) == 0) return {};
  const int code = errno;
  const auto offset = static_cast<off_t>(mapping.offset + (pages.begin - mapping.begin));
  (void)::mmap(pages.start(), pages.size(), mapping.protection, MAP_PRIVATE | MAP_FIXED, mapping.file,
               offset);
  return error_text("changed code may not be executed here", code);
}

}  // namespace fairgv::redirect
