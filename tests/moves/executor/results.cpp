#include "tests/moves/executor/results.hpp"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>

namespace fairgv::moves {
namespace {

constexpr std::uint64_t kPrime = 0x100000001B3U;

std::uint64_t hashed(std::uint64_t hash, const void* bytes, std::size_t count) {
  const auto* const all = static_cast<const std::uint8_t*>(bytes);
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ all[i]) * kPrime;
  return hash;
}

/// In one piece: kernels print to the same output.
void print_line(const char* what, std::size_t number, std::uint64_t hash) {
  char line[80];
  const int length = std::snprintf(line, sizeof(line), "%s %zu: %016" PRIx64 "\n", what, number, hash);
  if (::write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) != length)
    std::perror("standard output");
}

}  // namespace

void Results::add(const void* bytes, std::size_t count) {
  hash_ = hashed(hash_, bytes, count);
  if (details_)
    std::fprintf(stderr, "result %zu of %zu bytes: %016" PRIx64 "\n", results_, count,
                 hashed(kStart, bytes, count));
  ++results_;
}

void Results::print_check() {
  print_line("check", checks_++, hash_);
  total_ = hashed(total_, &hash_, sizeof(hash_));
  hash_ = kStart;
}

void Results::print_total() const {
  print_line("total of", checks_, total_);
}

}  // namespace fairgv::moves
