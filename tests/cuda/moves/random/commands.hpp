// The commands of a random CUDA program, each of which a stream or a graph can have.
#pragma once

#include <optional>

#include "tests/cuda/moves/random/world.hpp"

namespace fairgv::moves::cuda {

/// A launch, a copy, a fill, or a function of the host; nothing if what it would need is not there.
std::optional<Command> any_command(World& world);

/// The kernel `work` on this memory, and its arguments but the memory: as a graph's node has them.
struct Work {
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  std::uint32_t numbers = 0, rounds = 0;

  CUDA_KERNEL_NODE_PARAMS node(void** arguments);
};

}  // namespace fairgv::moves::cuda
