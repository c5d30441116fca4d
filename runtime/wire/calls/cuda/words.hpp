// Commands that write a word of memory, or wait for one (CUDA Driver API, "Stream Memory Operations").
#pragma once

#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/commands.hpp"
#include "runtime/wire/calls/cuda/types.hpp"
#include "runtime/wire/calls/cuda/word.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire::cuda {

/// Writes a word of 4 or 8 bytes at `address` of the device.
struct WriteWord {
  FAIRGV_CALL(CudaWriteWord, 0x1052, void)
  Command command;
  std::uint64_t address = 0;
  std::uint64_t value = 0;
  std::uint32_t bytes = 4;
  FAIRGV_FIELDS(command, address, value, bytes)
};

/// Holds the stream up until the word passes the test. The worker looks at the word; the driver gets nothing
/// of it. `space`: device or arena.
struct WaitForWord {
  FAIRGV_CALL(CudaWaitForWord, 0x1053, void)
  Command command;
  Space space = Space::device;
  Comparison comparison = Comparison::at_least;
  std::uint64_t address = 0;  // aligned to `bytes`
  std::uint64_t value = 0;
  std::uint32_t bytes = 4;
  FAIRGV_FIELDS(command, space, comparison, address, value, bytes)
};

/// Waits for words in the stream end now, though they are not over, and in an error; what is behind them is
/// not run.
struct GiveUpWaits {
  FAIRGV_CALL(CudaGiveUpWaits, 0x1054, void)
  FAIRGV_SETS(queue, 0)
  ObjectId queue;
  FAIRGV_FIELDS(queue)
};

using WordCalls = TypeList<WriteWord, WaitForWord, GiveUpWaits>;

}  // namespace fairgv::wire::cuda
