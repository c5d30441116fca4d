// Bounds that are the same on every device.
#pragma once

#include <cstdint>

namespace fairgv::cuda {

inline constexpr std::uint64_t kLargestPitch = 0x7fffffff;  // bytes (CU_DEVICE_ATTRIBUTE_MAX_PITCH)
/// Bytes: a pitch that an engine chooses is a multiple of this.
inline constexpr std::uint64_t kPitchAlignment = 512;

}  // namespace fairgv::cuda
