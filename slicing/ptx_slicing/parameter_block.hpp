// Where an entry's parameters lie in the block that a launch carries (PTX ISA, "Kernel Function Parameters";
// CUDA Driver API, cuLaunchKernel: each at the next multiple of its alignment). Private to the PTX slicer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicing/ptx/model.hpp"

namespace fairgv::slicing::ptx {

/// The size of the block in bytes. Nothing if a parameter has a type or size that is not known.
std::optional<std::uint64_t> parameter_block_bytes(const std::vector<Variable>& parameters);

/// The most bytes that an entry's parameters may have: 32,764 since PTX 8.1 on sm_70 and newer, 4,096 before.
std::uint64_t most_parameter_bytes(const Module& module);

}  // namespace fairgv::slicing::ptx
