// Host work that takes less time than waking a thread for it. In a stream with launches under way the
// device's own thread does the work, as a native kernel (OpenCL 3.0, clEnqueueNativeKernel). That costs no
// switch of threads, and launches behind the work are begun without waiting for its end.
#pragma once

#include <cstddef>
#include <memory>

#include "cuda-shim/softcuda/driver/engine.hpp"
#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"

namespace fairgv::cuda::soft {

/// Moving or filling so many bytes takes less time than waking a thread.
constexpr std::size_t kShortBytes = 64U << 10U;

/// Queues work that is short and calls no CUDA function. In an idle stream the work is done when this
/// returns. A result other than CUDA_SUCCESS is a fault of the stream's group.
void submit_short(Engine& engine, std::shared_ptr<Stream> stream, Work work);

}  // namespace fairgv::cuda::soft
