// The limits of the soft device, in one place: device attributes, function attributes, launch checks and
// occupancy all read them, so that they agree.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda-shim/api/memory/bounds.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"

namespace fairgv::cuda::soft {

inline constexpr std::uint32_t kWarp = 32;
inline constexpr std::uint32_t kComputeMajor = 8;
inline constexpr std::uint32_t kComputeMinor = 0;
inline constexpr std::uint32_t kComputeCapability = 10 * kComputeMajor + kComputeMinor;  // as targets say it
inline constexpr std::uint32_t kBlocksPerMultiprocessor = 32;
inline constexpr std::uint32_t kThreadsPerMultiprocessor = 2048;
inline constexpr std::uint64_t kSharedWithoutAsking = 48U
                                                      << 10U;  // bytes; more takes an opt-in, as on any GPU
inline constexpr std::uint64_t kSharedGranularity = 256;       // bytes
/// There are no real registers. Programs ask for numbers; with these the largest block has what it needs.
inline constexpr std::uint32_t kRegistersPerMultiprocessor = 64U << 10U;
inline constexpr std::uint32_t kMostRegistersPerThread = 64;
inline constexpr std::uint32_t kConstantBytes = 64U << 10U;
inline constexpr std::uint32_t kLargestGrid[3] = {0x7fffffff, 65535, 65535};
inline constexpr std::uint32_t kLargestBlockSide[3] = {1024, 1024, 64};
inline constexpr std::uint32_t kLargestParameterBytes = 4096;
inline constexpr std::uint64_t kTextureAlignment = 512;
inline constexpr std::uint64_t kTexturePitchAlignment = 32;

inline std::uint32_t largest_block(const DeviceFacts& facts) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(facts.largest_block, 1024));
}
inline std::uint32_t largest_block_side(const DeviceFacts& facts, std::size_t dimension) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      {facts.largest_block_side[dimension], kLargestBlockSide[dimension], largest_block(facts)}));
}
/// Bytes per block: without an opt-in, and at most. A multiprocessor has as much as one block may take.
inline std::uint64_t shared_per_block(const DeviceFacts& facts) {
  return std::min(facts.local_memory, kSharedWithoutAsking);
}
inline std::uint64_t shared_at_most(const DeviceFacts& facts) {
  return std::min<std::uint64_t>(facts.local_memory, std::uint64_t{1} << 30U);
}

}  // namespace fairgv::cuda::soft
