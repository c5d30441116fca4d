// Every call of the OpenCL front end, declared once. Both sides use these declarations.
//
// A call is a struct with an explicit opcode, the type of its reply (`void`: one-way, nobody waits), its name
// for logs and traces, and its fields. CONTRIBUTING.md says how to add one; tests/unit/wire/calls_test.cpp
// fails until both sides exist.
//
// Rules of the protocol (docs/ARCHITECTURE.md, Wire):
//  - Messages of a session are handled in the order in which they lie in the request ring.
//  - Creating calls are one-way: the front end has already checked the arguments. A call that fails
//    in the driver nevertheless leaves a "poisoned" object, whose error surfaces in the status of every
//    command that uses it.
//  - Commands (Enqueue*) carry `completion`: the event whose completion slot the worker writes, or 0. The
//    worker writes the slot's times first, then {generation, status} with release, then rings the completion
//    bell.
//  - Status values are OpenCL's: CL_QUEUED 3, CL_SUBMITTED 2, CL_RUNNING 1, CL_COMPLETE 0, negative = error.
//  - ArenaRange fields name bytes of the session's arena, which the front end owns. It may reuse ranges of
//    commands once the command has completed, ranges of other calls once the worker has consumed the record.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/buffer_commands.hpp"
#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/command_buffers.hpp"
#include "runtime/wire/calls/commands.hpp"
#include "runtime/wire/calls/devices.hpp"
#include "runtime/wire/calls/events.hpp"
#include "runtime/wire/calls/extensions.hpp"
#include "runtime/wire/calls/image_commands.hpp"
#include "runtime/wire/calls/images.hpp"
#include "runtime/wire/calls/kernels.hpp"
#include "runtime/wire/calls/memory.hpp"
#include "runtime/wire/calls/notices.hpp"
#include "runtime/wire/calls/programs.hpp"
#include "runtime/wire/calls/session.hpp"
#include "runtime/wire/codec.hpp"

namespace fairgv::wire {

inline constexpr std::uint32_t kProtocolVersion = 1;

/// A request too big for the ring: the payload is one Indirect, naming where in the arena the real message
/// (with this bit cleared from the opcode) lies.
inline constexpr Opcode kIndirectBit = 0x8000;
/// A piece of a reply too big for the response ring; the last piece has the call's own opcode.
inline constexpr Opcode kPartialReply = 0x7FFE;

/// A record's tag names a call that waits for its reply. While somebody traces the session it is the time
/// when the call began, or, of EndAccess, when the program was done: nanoseconds of CLOCK_MONOTONIC with this
/// bit.
inline constexpr std::uint64_t kTimedTag = std::uint64_t{1} << 63;
/// That time, or 0 if the tag tells none.
constexpr std::uint64_t time_of(std::uint64_t tag) {
  return (tag & kTimedTag) != 0 ? tag & ~kTimedTag : 0;
}

struct Indirect {
  ArenaRange message;
  FAIRGV_FIELDS(message)
};

namespace detail {

/// Several lists joined into one.
template <class... Lists>
struct Joined;
template <class... T>
struct Joined<TypeList<T...>> {
  using Type = TypeList<T...>;
};
template <class... T, class... U, class... Lists>
struct Joined<TypeList<T...>, TypeList<U...>, Lists...> : Joined<TypeList<T..., U...>, Lists...> {};

}  // namespace detail

/// Requests, front end to worker.
using AllCalls = detail::Joined<SessionCalls, DeviceCalls, MemoryCalls, ImageCalls, ProgramCalls, KernelCalls,
                                CommandCalls, BufferCommandCalls, ImageCommandCalls, EventCalls,
                                CommandBufferCalls, ExtensionCalls>::Type;

}  // namespace fairgv::wire
