// One kernel launch: checked, put together, and handed to the engine (CUDA Driver API, "Execution Control").
#pragma once

#include <cstdint>
#include <vector>

#include "cuda-shim/api/code/module.hpp"
#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

class Driver;
class Engine;

struct LaunchShape {
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint64_t dynamic_shared = 0;  // bytes
  std::uint32_t cluster[3] = {1, 1, 1};
  bool cooperative = false;
  int priority = 0;  // only reported: a stream has its own
};

/// The limits of a device, from its attributes. They are read once, because every launch is checked against
/// them.
struct LaunchLimits {
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint64_t threads = 0;  // of a block
  bool clusters = false;
  bool cooperative = false;
};
LaunchLimits launch_limits(const Engine& engine, CUdevice device);

/// Returns the answer of cuLaunchKernel for such a shape: CUDA_ERROR_INVALID_VALUE,
/// CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, ...
CUresult check_shape(const Driver& driver, CUdevice device, const Function& function,
                     const LaunchShape& shape);

/// Accepts attributes that ask for nothing unsupported. An unsupported request is refused, not ignored.
CUresult take_attribute(CUlaunchAttributeID which, const CUlaunchAttributeValue& value, LaunchShape& shape);

/// Copies the parameters out of either of the two ways to give them. The copy is whole words, at least one.
CUresult gather_parameters(const Function& function, void* const* parameters, void* const* extra,
                           std::vector<std::uint64_t>& block);

}  // namespace fairgv::cuda
