// Words of memory that streams write and wait for (CUDA Driver API, "Stream Memory Operations"): what a
// program asks for, checked.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "runtime/wire/calls/cuda/word.hpp"

namespace fairgv::cuda {

class Driver;
struct Allocation;
class Stream;

using wire::cuda::Comparison;

/// An aligned word within one allocation.
struct Word {
  std::uint64_t address = 0;  // as the program knows it
  std::uint32_t bytes = 4;    // or 8
  std::shared_ptr<Allocation> allocation;
};

struct WordTest {
  Comparison comparison = Comparison::at_least;
  std::uint64_t value = 0;
};

/// A write of the test's value, or a wait for it.
struct WordCommand {
  Word word;
  WordTest test;
  bool is_write = false;
};

/// Appends the commands of one operation: none for a barrier or a flush, because all writes before a command
/// are seen by the commands behind it. An error: the operation is wrong, or the device cannot do it.
CUresult read_operation(const Driver& driver, CUdevice device, const CUstreamBatchMemOpParams& operation,
                        std::vector<WordCommand>& commands);

/// Puts all of them into the stream, which must not be being captured.
CUresult put_words(Driver& driver, const std::shared_ptr<Stream>& stream,
                   std::span<const WordCommand> commands);

}  // namespace fairgv::cuda
