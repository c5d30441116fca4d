// Whether a program could tell that another device has taken the place of its own.
#pragma once

#include <optional>
#include <string>

#include "runtime/wire/calls/cuda/contexts.hpp"

namespace fairgv::vgpu::cuda {

/// As one line, what the device `to` has less of than `from`, or has otherwise; nothing: a program that runs
/// on the one goes on on the other.
std::optional<std::string> lacks(const wire::cuda::DeviceFacts& from, const wire::cuda::DeviceFacts& to);

}  // namespace fairgv::vgpu::cuda
