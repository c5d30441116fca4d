// A checkpoint as a file:
//
//   magic, version, length, facts as JSON, zeros up to 64 KiB | image | zeros up to a page | contents
//
// The beginning is written last: a file that was not finished is none. Holes stay holes, so that the file is
// as long as the shared memory, and takes as much as was used of it. The reader believes nothing: whoever
// restores reads a copy of the facts, and the daemon and the worker check what they get.
#pragma once

#include <cstdint>

#include "runtime/base/result.hpp"
#include "runtime/control/checkpoint/facts.hpp"

namespace fairgv::control {

/// Bytes of a file where its parts begin.
struct CheckpointParts {
  std::uint64_t image = 0;
  std::uint64_t contents = 0;
};
CheckpointParts parts_of(const CheckpointFacts& facts);

/// Writes the beginning, which makes the file a checkpoint. `file` can be written to.
Result<void> write_checkpoint_head(int file, const CheckpointFacts& facts);
/// Errors are one line about the file, as "is no checkpoint of FairGV".
Result<CheckpointFacts> read_checkpoint_head(int file);

}  // namespace fairgv::control
