// Buffers and parts of them.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

struct CreateBuffer {
  FAIRGV_CALL(CreateBuffer, 0x0300, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::uint64_t flags = 0;  // cl_mem_flags, without the *_HOST_PTR bits, which the front end resolves
  std::uint64_t bytes = 0;
  ArenaRange initial;  // initial contents, or bytes == 0
  /// Where in the arena the buffer lies, on devices that share memory with the host, or bytes == 0. The range
  /// is the front end's again when `retired` has ended: the buffer and all that used it are gone. Without
  /// such an event the front end keeps the range by other means (a buffer in shared virtual memory).
  ArenaRange backing = {};
  /// Ends with CL_COMPLETE if the front end may use the buffer's bytes again (ReserveMemory), with
  /// kMemoryGivenBack if not.
  EventId retired = {};
  FAIRGV_FIELDS(id, context, flags, bytes, initial, backing, retired)
};

struct CreateSubBuffer {
  FAIRGV_CALL(CreateSubBuffer, 0x0301, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId parent;
  std::uint64_t flags = 0;
  std::uint64_t origin = 0;
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(id, parent, flags, origin, bytes)
};

/// Whether the driver makes such a part. Asked where the specification leaves it to the driver.
struct CheckSubBuffer {
  FAIRGV_CALL(CheckSubBuffer, 0x0306, StatusReply)
  ObjectId parent;
  std::uint64_t flags = 0;
  std::uint64_t origin = 0;
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(parent, flags, origin, bytes)
};

inline constexpr std::int32_t kMemoryGivenBack = -1;

/// The most granted bytes that a session keeps without using them.
inline constexpr std::uint64_t kMostHeadroom = std::uint64_t{2} << 20;

struct MemoryReply {
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(bytes)
};

/// Asks for device memory, on every device of a set: `bytes` that the front end needs beyond its headroom,
/// and `headroom` more for later objects. The answer says how much was granted: both, only `bytes`, or none.
///
/// The granted bytes are the session's headroom. Creating an object with memory of its own takes the object's
/// bytes out of it, on every device of the context: buffers their size, unless they lie in shared virtual
/// memory; images image_bytes(); pipes pipe_bytes(). A front end that has sent this call once must have
/// reserved the bytes of what it creates: else it breaks the protocol. For a front end that never sent it,
/// the worker asks the daemon itself, and poisons objects that it may not make.
struct ReserveMemory {
  FAIRGV_CALL(ReserveMemory, 0x0302, MemoryReply)
  std::uint64_t devices = 0;  // bit d: device d of the topology
  std::uint64_t bytes = 0;
  std::uint64_t headroom = 0;
  FAIRGV_FIELDS(devices, bytes, headroom)
};

/// Gives back granted bytes that are not used.
struct ReturnMemory {
  FAIRGV_CALL(ReturnMemory, 0x0303, void)
  std::uint64_t devices = 0;
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(devices, bytes)
};

/// How much ReserveMemory would be granted now on a device.
struct GetMemoryLeft {
  FAIRGV_CALL(GetMemoryLeft, 0x0304, MemoryReply)
  DeviceIndex device = 0;
  FAIRGV_FIELDS(device)
};

/// The end of AwaitMemory if nothing more comes by itself. The memory that came back before may be enough
/// nevertheless.
inline constexpr std::int32_t kNothingOnItsWay = -1;

/// Ends `answer` as soon as it is worth asking again for memory that was refused: released objects hold it,
/// and the commands that keep them end without the program's doing. CL_COMPLETE: as much as was missing has
/// come back. A session has one such call open at a time. Of both front ends, if the welcome names
/// kMemoryWaits.
struct AwaitMemory {
  FAIRGV_CALL(AwaitMemory, 0x0305, void)
  EventId answer;
  std::uint64_t devices = 0;  // as in ReserveMemory
  std::uint64_t bytes = 0;    // that were refused; 0: unknown
  std::uint32_t more = 0;     // 1: the front end will release more when commands have ended
  FAIRGV_FIELDS(answer, devices, bytes, more)
};

using MemoryCalls = TypeList<CreateBuffer, CreateSubBuffer, CheckSubBuffer, ReserveMemory, ReturnMemory,
                             GetMemoryLeft, AwaitMemory>;

}  // namespace fairgv::wire
