// Whether a program could tell that another device has taken the place of its own.
#pragma once

#include <optional>

#include "runtime/vgpu/backend/device_difference.hpp"
#include "runtime/wire/calls/cuda/contexts.hpp"

namespace fairgv::vgpu::cuda {

/// The first thing that the device `to` has less of than `from`, or has otherwise: such as exclude the move
/// before others. Nothing: a program that runs on the one goes on on the other.
std::optional<DeviceDifference> lacks(const wire::cuda::DeviceFacts& from, const wire::cuda::DeviceFacts& to);

}  // namespace fairgv::vgpu::cuda
