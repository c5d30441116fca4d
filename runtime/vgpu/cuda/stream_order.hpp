// The order of the default stream among the others (CUDA Driver API, "Stream synchronization behavior"): a
// command of the legacy stream waits for all earlier commands of the context's blocking streams, and later
// commands of blocking streams wait for it. Non-blocking streams are on their own.
//
// In the driver all streams are on their own: the legacy stream may wait for something that the program has
// still to do, and the command graph never hands the driver such a wait.
#pragma once

#include <vector>

#include "runtime/vgpu/cuda/objects.hpp"

namespace fairgv::vgpu::cuda {

/// The nodes that the next command of the stream waits for beside its own predecessors. Some may have ended.
std::vector<NodePtr> order_of(Stream& stream);

}  // namespace fairgv::vgpu::cuda
