// Copies of large files that leave their holes out.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/result.hpp"

namespace fairgv {

struct FilePart {
  int file = -1;
  std::uint64_t offset = 0;
};

/// Copies `bytes` bytes, whatever the files' positions; what is a hole in the first file, or zeros by whole
/// pages, is left out in the second, which has zeros there. The bytes that were written; an Error, as one
/// line about the second file, that follows "cannot". Ends early, with an Error, once `stop` is set.
Result<std::uint64_t> copy_sparse(const FilePart& from, const FilePart& to, std::uint64_t bytes,
                                  const std::atomic<bool>& stop);

/// The bytes of memory or disk that the file takes.
std::uint64_t allocated_bytes(int file);

}  // namespace fairgv
