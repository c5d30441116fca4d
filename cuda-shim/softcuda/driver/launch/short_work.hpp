// Host work that takes less time than waking a thread for it. In a stream where launches are on their way the
// device's own thread does it, as a native kernel (OpenCL 3.0, clEnqueueNativeKernel): it costs no switch of
// threads, and launches behind it are begun without waiting for its end.
#pragma once

#include <cstddef>
#include <memory>

#include "cuda-shim/softcuda/driver/engine.hpp"
#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"

namespace fairgv::cuda::soft {

/// Bytes that are moved or filled in less time.
constexpr std::size_t kShortBytes = 64U << 10U;

/// Queues work that is short and calls nothing of CUDA. In an idle stream it is done when this returns. Its
/// result is a fault of the stream's group unless it is CUDA_SUCCESS.
void submit_short(Engine& engine, std::shared_ptr<Stream> stream, Work work);

}  // namespace fairgv::cuda::soft
