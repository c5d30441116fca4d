#include "runtime/base/files/sparse_copy.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

namespace fairgv {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks

Result<void> write_piece(const FilePart& to, const char* data, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t written =
        ::pwrite(to.file, data + done, bytes - done, static_cast<off_t>(to.offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return system_error("write", written == 0 ? ENOSPC : errno);
    done += static_cast<std::size_t>(written);
  }
  return {};
}

/// The beginning of the data at or behind this place; the end where there is none.
std::uint64_t next_data(int file, std::uint64_t at, std::uint64_t end) {
  const off_t found = ::lseek(file, static_cast<off_t>(at), SEEK_DATA);
  if (found < 0) return errno == ENXIO ? end : at;
  return std::min(static_cast<std::uint64_t>(found), end);
}

std::uint64_t next_hole(int file, std::uint64_t at, std::uint64_t end) {
  const off_t found = ::lseek(file, static_cast<off_t>(at), SEEK_HOLE);
  return found < 0 ? end : std::min(static_cast<std::uint64_t>(found), end);
}

bool is_zero(const char* data, std::size_t bytes) {
  return std::all_of(data, data + bytes, [](char byte) { return byte == 0; });
}

}  // namespace

Result<std::uint64_t> copy_sparse(const FilePart& from, const FilePart& to, std::uint64_t bytes,
                                  const std::atomic<bool>& stop) {
  std::vector<char> piece(kPiece);
  const std::uint64_t end = from.offset + bytes;
  std::uint64_t written = 0;
  for (std::uint64_t at = next_data(from.file, from.offset, end); at < end;) {
    const std::uint64_t until = next_hole(from.file, at, end);
    while (at < until) {
      if (stop.load(std::memory_order_relaxed)) return Error{"go on: it was told to stop"};
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, until - at));
      const ssize_t read = ::pread(from.file, piece.data(), wanted, static_cast<off_t>(at));
      if (read < 0 && errno == EINTR) continue;
      if (read < 0) return system_error("read what is to be written");
      if (read == 0) return Error{"go on: what is to be written is shorter than it was"};
      const auto got = static_cast<std::size_t>(read);
      if (!is_zero(piece.data(), got)) {
        FAIRGV_CHECK(write_piece({to.file, to.offset + (at - from.offset)}, piece.data(), got));
        written += got;
      }
      at += got;
    }
    at = next_data(from.file, at, end);
  }
  return written;
}

std::uint64_t allocated_bytes(int file) {
  struct stat found {};
  return ::fstat(file, &found) == 0 ? static_cast<std::uint64_t>(found.st_blocks) * kBlockBytes : 0;
}

}  // namespace fairgv
