// Buffers and parts of them.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

struct CreateBuffer {
  FAIRGV_CALL(CreateBuffer, 0x0300, void)
  ObjectId id;
  ObjectId context;
  std::uint64_t flags = 0;  // cl_mem_flags, without the *_HOST_PTR bits, which the front end resolves
  std::uint64_t bytes = 0;
  ArenaRange initial;  // initial contents, or bytes == 0
  /// Where in the arena the buffer lies, on devices that share memory with the host, or bytes == 0. The range
  /// is the front end's again when `retired` has ended: the buffer and all that used it are gone. Without
  /// such an event the front end keeps the range by other means (a buffer in shared virtual memory).
  ArenaRange backing = {};
  EventId retired = {};
  FAIRGV_FIELDS(id, context, flags, bytes, initial, backing, retired)
};

struct CreateSubBuffer {
  FAIRGV_CALL(CreateSubBuffer, 0x0301, void)
  ObjectId id;
  ObjectId parent;
  std::uint64_t flags = 0;
  std::uint64_t origin = 0;
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(id, parent, flags, origin, bytes)
};

using MemoryCalls = TypeList<CreateBuffer, CreateSubBuffer>;

}  // namespace fairgv::wire
