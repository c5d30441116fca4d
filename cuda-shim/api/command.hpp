// Commands of a stream. Every entry point that puts work into a stream makes a command and hands it to put().
// put() enqueues the command, or captures it if the stream is being captured. A graph that is launched
// enqueues the same commands.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cuda-shim/api/code/launch.hpp"
#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/memory/copy.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {

/// A launch that has been checked.
struct LaunchCommand {
  std::shared_ptr<Function> function;
  LaunchShape shape;
  std::vector<std::uint64_t> parameters;  // as gather_parameters() makes them
  CUkernel kernel = nullptr;              // by which the program named it; null: by the function itself
};

/// Not asynchronous: the call returns when copy() says.
struct CopyCommand {
  Place to, from;
  Extent extent;
  bool async = true;
};

/// Not asynchronous: for memory of the host the call waits.
struct FillCommand {
  Fill fill;
  bool async = true;
};

struct HostCommand {
  CUhostFn function = nullptr;
  void* data = nullptr;
};

/// `external`: in a capture it is a node, and not a part of its shape.
struct RecordCommand {
  std::shared_ptr<Event> event;
  bool external = false;
};
struct WaitCommand {
  std::shared_ptr<Event> event;
  bool external = false;
};

CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, LaunchCommand command);
CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, const CopyCommand& command);
CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, const FillCommand& command);
CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, const HostCommand& command);
CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, const RecordCommand& command);
CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, const WaitCommand& command);

/// Enqueues the command, or captures it if the stream is being captured.
template <typename Command>
CUresult put(Driver& driver, const std::shared_ptr<Stream>& stream, Command&& command) {
  if (driver.captures.any()) [[unlikely]] {
    CUresult code = CUDA_SUCCESS;
    if (driver.captures.take(driver, stream, command, code)) return code;
  }
  return enqueue(driver, stream, std::forward<Command>(command));
}

}  // namespace fairgv::cuda
