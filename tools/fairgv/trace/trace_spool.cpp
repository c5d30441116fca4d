#include "tools/fairgv/trace/trace_spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

namespace fairgv::tools {

Result<TraceSpool> TraceSpool::create() {
  std::error_code code;
  std::string path = std::filesystem::temp_directory_path(code) / "fairgv-trace-XXXXXX";
  if (code) return Error{"there is no folder for temporary files (TMPDIR): " + code.message()};
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return system_error("cannot make a temporary file " + path);
  ::unlink(path.c_str());
  std::FILE* const file = ::fdopen(fd, "w+");
  if (file == nullptr) {
    auto error = system_error("cannot open the temporary file " + path);
    ::close(fd);
    return error;
  }
  return TraceSpool(file);
}

Result<void> TraceSpool::put(std::string_view answer) {
  const std::uint64_t length = answer.size();
  const long begin = std::ftell(file_.get());
  const bool whole = std::fwrite(&length, sizeof(length), 1, file_.get()) == 1 &&
                     std::fwrite(answer.data(), 1, answer.size(), file_.get()) == answer.size() &&
                     std::fflush(file_.get()) == 0;
  if (!whole) {
    auto error = system_error("cannot keep what was recorded in a temporary file");
    std::clearerr(file_.get());
    (void)std::fseek(file_.get(), begin, SEEK_SET);
    return error;
  }
  ++answers_;
  return {};
}

Result<void> TraceSpool::next(std::string& answer) {
  std::uint64_t length = 0;
  if (std::fread(&length, sizeof(length), 1, file_.get()) != 1) return Error{"the temporary file is cut off"};
  answer.resize(length);
  if (std::fread(answer.data(), 1, length, file_.get()) != length)
    return Error{"the temporary file is cut off"};
  return {};
}

}  // namespace fairgv::tools
