// Modules over a driver that chooses their addresses: kernels may have stored such addresses anywhere, and in
// another process they would mean nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace fairgv::vgpu::cuda {

/// As a phrase, which addresses of the module's own its kernels could have: of variables, of memory that they
/// allocate, of functions; or why that cannot be known. Nothing: they have none. `image`, `capability`: see
/// sliced_image().
std::optional<std::string> own_addresses(std::span<const std::byte> image, std::uint32_t capability);

}  // namespace fairgv::vgpu::cuda
