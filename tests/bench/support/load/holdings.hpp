// The holdings of a daemon without programs, and the remains of its workers: both must be the same after a
// storm as before.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "tests/harness/child.hpp"

namespace fairgv::bench {

/// For the environment of a daemon: its workers and all that they start inherit it, wherever they end up.
harness::Environment holdings_mark();

/// Of a daemon that has the mark of this process.
struct Holdings {
  std::size_t descriptors = 0;
  std::size_t memory_files = 0;  // that it has mapped
  std::size_t children = 0;
  std::size_t processes = 0;  // with the mark, itself left out; of those that may be looked at
  std::size_t control_groups = 0;
  std::size_t shared_memory = 0;  // files in /dev/shm

  static Holdings of(pid_t daemon);
  bool operator==(const Holdings&) const = default;
};

/// In words.
std::string shown(const Holdings& holdings);

}  // namespace fairgv::bench
