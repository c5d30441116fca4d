// CUDA as a back end, without CUDA's headers: a build without the toolkit has it, too, and says so when a
// program of CUDA comes.
#pragma once

#include <memory>

#include "runtime/base/result.hpp"
#include "runtime/session/worker_options.hpp"
#include "runtime/vgpu/backend/back_end.hpp"

namespace fairgv::vgpu::cuda {

/// Loads the first driver of the options' libraries that has a device, or else one that has none.
Result<std::unique_ptr<BackEnd>> open_back_end(const session::WorkerOptions& options);

}  // namespace fairgv::vgpu::cuda
