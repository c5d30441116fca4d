#include "runtime/base/memory_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fairgv {

Result<UniqueFd> memory_file(std::string_view text, const std::string& what) {
  UniqueFd file(::memfd_create("fairgv-text", MFD_CLOEXEC));
  if (!file) return system_error("cannot make a memory file for " + what);
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0) return system_error("cannot write " + what + " into a memory file");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return file;
}

Result<std::string> read_memory_file(int file, std::uint64_t longest, const std::string& what) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0) return system_error("cannot read " + what);
  const auto bytes = static_cast<std::uint64_t>(facts.st_size);
  if (bytes > longest) return Error{what + " is too long: " + std::to_string(bytes) + " bytes"};
  std::string text(bytes, '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t length = ::pread(file, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (length < 0) return system_error("cannot read " + what);
    if (length == 0) return Error{what + " became shorter while it was read"};
    done += static_cast<std::size_t>(length);
  }
  return text;
}

}  // namespace fairgv
