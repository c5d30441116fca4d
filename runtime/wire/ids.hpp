// Names of objects on the wire.
//
// The front end chooses every id, so that creating an object needs no answer (design: "client-chosen ids").
// An id is an index into the worker's table (low 32 bits) and a generation (high 32 bits, never 0) that makes
// a stale id recognisable after its index was used again. Raw value 0 names nothing.
#pragma once

#include <compare>
#include <cstdint>

namespace fairgv::wire {

template <class Kind>
struct Id {
  std::uint64_t raw = 0;

  static constexpr Id make(std::uint32_t index, std::uint32_t generation) {
    return Id{(std::uint64_t{generation} << 32) | index};
  }
  constexpr std::uint32_t index() const { return static_cast<std::uint32_t>(raw); }
  constexpr std::uint32_t generation() const { return static_cast<std::uint32_t>(raw >> 32); }
  constexpr explicit operator bool() const { return raw != 0; }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

/// Any object but an event: contexts, queues, buffers, programs and kernels share one table, whose entries
/// know their kind.
using ObjectId = Id<struct ObjectKind>;

/// An event: the index is that of its completion slot in the segment (runtime/ring/segment.hpp).
using EventId = Id<struct EventKind>;

/// Position of a platform or a device in the lists that the worker reported in its Topology reply.
using PlatformIndex = std::uint32_t;
using DeviceIndex = std::uint32_t;

}  // namespace fairgv::wire
