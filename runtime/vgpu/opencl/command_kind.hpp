// The sizes of transfers, and the commands that are expected to take the same time: launches of one function
// over the same range, whatever the arguments (FairGV, section 3.3.2), and transfers of about the same size.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "runtime/vgpu/graph/command_kind.hpp"
#include "runtime/wire/calls/call.hpp"
#include "sched/command_history.hpp"

namespace fairgv::vgpu::opencl {

/// x * y * z, or the largest number if that is beyond 64 bits.
inline std::uint64_t volume(const wire::Extent3& extent) {
  std::uint64_t product = 0;
  const bool overflow = __builtin_mul_overflow(extent.x, extent.y, &product) ||
                        __builtin_mul_overflow(product, extent.z, &product);
  return overflow ? std::numeric_limits<std::uint64_t>::max() : product;
}

/// Of a transfer, copy or fill, in bytes; of images, in elements.
template <class Call>
std::uint64_t size_of(const Call& call) {
  if constexpr (requires { call.region; }) {
    return volume(call.region);
  } else if constexpr (requires { call.bytes; }) {
    return call.bytes;
  } else if constexpr (requires { call.to; }) {
    return call.to.bytes;
  } else {
    return call.from.bytes;
  }
}

/// Of a transfer, copy or fill: the call and the size to the next power of two.
template <class Call>
sched::CommandKind kind_of(const Call& call) {
  return kind_from({Call::opcode, static_cast<std::uint64_t>(std::bit_width(size_of(call)))});
}

/// The bytes of one of the elements that a command counts; 1 for buffers.
template <class... Objects>
std::uint64_t element_bytes(const Objects&... objects) {
  std::uint64_t bytes = 1;
  const auto look = [&](const auto& object) {
    if constexpr (requires { object.element_bytes; }) bytes = object.element_bytes;
  };
  (look(objects), ...);
  return bytes;
}

}  // namespace fairgv::vgpu::opencl
