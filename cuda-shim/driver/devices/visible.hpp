// CUDA_VISIBLE_DEVICES: the program's own choice among the devices that its worker shows, which may be a
// choice of the daemon's already (docs/SCHEDULING.md, Device choice).
//
// Pure logic.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/wire/calls/cuda/contexts.hpp"

namespace fairgv::cuda::remote {

/// The worker's ordinals of the devices that the program sees, in the order in which it sees them. `wanted`:
/// ordinals of the worker's and UUIDs as "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", or their beginnings,
/// with commas between them; none: all devices. As in CUDA's own driver, the list ends at the first entry
/// that names no device, several, or a device once more.
std::vector<std::uint32_t> visible_devices(std::optional<std::string_view> wanted,
                                           const std::vector<wire::cuda::DeviceFacts>& devices);

}  // namespace fairgv::cuda::remote
