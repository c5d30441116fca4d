// Which commands are expected to take the same time: launches of one function over the same range, whatever
// the arguments (FairGV, section 3.3.2), and transfers of about the same size.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "runtime/vgpu/command_kind.hpp"
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

/// Of a transfer, copy or fill: the call and the size to the next power of two.
template <class Call>
sched::CommandKind kind_of(const Call& call) {
  std::uint64_t size = 0;
  if constexpr (requires { call.region; }) {
    size = volume(call.region);
  } else if constexpr (requires { call.bytes; }) {
    size = call.bytes;
  } else if constexpr (requires { call.to; }) {
    size = call.to.bytes;
  } else {
    size = call.from.bytes;
  }
  return kind_from({Call::opcode, static_cast<std::uint64_t>(std::bit_width(size))});
}

}  // namespace fairgv::vgpu::opencl
