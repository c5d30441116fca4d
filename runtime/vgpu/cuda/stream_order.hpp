// How the default stream is ordered among the others (CUDA Driver API, "Stream synchronization behavior"): a
// command of the legacy stream waits for all earlier ones of the context's blocking streams, and those that
// follow in blocking streams wait for it. Non-blocking streams are on their own.
//
// In the driver all streams are on their own: some of what the legacy stream waits for may still be the
// program's to do, and the command graph never hands the driver such a wait.
#pragma once

#include <vector>

#include "runtime/vgpu/cuda/objects.hpp"

namespace fairgv::vgpu::cuda {

/// What the next command of the stream waits for beside its own predecessors. Some of it may have ended.
std::vector<NodePtr> order_of(Stream& stream);

}  // namespace fairgv::vgpu::cuda
