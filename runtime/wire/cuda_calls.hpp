// Every call of the CUDA front end: the Driver API's side of the wire. The rules of the protocol are those of
// calls.hpp, with these additions:
//
//  - A session speaks either OpenCL or CUDA: its hello says which (runtime/session/protocol.hpp), and its
//    worker knows the calls of that one list only.
//  - `Command::queue` names a stream. The worker orders a legacy stream among the blocking ones by itself.
//  - A record of an event is a marker, whose end is the event's; waiting for one in a stream is a marker with
//    a wait list. The times of such ends are the host's (CLOCK_MONOTONIC, nanoseconds).
//  - A host function is an EnqueueHostWork, which the front end ends with EndAccess.
//  - A late failure is also told in the segment (ring::LateError), before the command ends.
#pragma once

#include "runtime/wire/calls.hpp"
#include "runtime/wire/calls/cuda/contexts.hpp"
#include "runtime/wire/calls/cuda/ipc.hpp"
#include "runtime/wire/calls/cuda/memory.hpp"
#include "runtime/wire/calls/cuda/modules.hpp"
#include "runtime/wire/calls/cuda/ranges.hpp"
#include "runtime/wire/calls/cuda/textures.hpp"
#include "runtime/wire/calls/cuda/words.hpp"

namespace fairgv::wire::cuda {

/// The calls of both front ends.
using SharedCalls = TypeList<Ping, ReleaseObject, FlushQueue, EnqueueMarker, EnqueueBarrier, EnqueueHostWork,
                             EndAccess, AwaitMemory>;

using AllCalls = wire::detail::Joined<SharedCalls, EventCalls, ContextCalls, ModuleCalls, MemoryCalls,
                                      TextureCalls, WordCalls, IpcCalls, RangeCalls>::Type;

}  // namespace fairgv::wire::cuda
