// The common part of every command of a queue, and the commands that never reach the driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

/// The common part of every command. On a queue with profiling, `completion` also receives the times.
struct Command {
  ObjectId queue;
  EventId completion;
  std::span<const EventId> wait_list;
  FAIRGV_FIELDS(queue, completion, wait_list)
};

/// Completes when its wait list has, or, with an empty one, when every earlier command of the queue has.
/// clFinish is a marker that its caller waits for. Never reaches the driver.
struct EnqueueMarker {
  FAIRGV_CALL(EnqueueMarker, 0x0608, void)
  Command command;
  FAIRGV_FIELDS(command)
};

/// As a marker; later commands of the queue also wait for it.
struct EnqueueBarrier {
  FAIRGV_CALL(EnqueueBarrier, 0x0609, void)
  Command command;
  FAIRGV_FIELDS(command)
};

/// The most bytes of a mark's label.
inline constexpr std::size_t kLongestLabel = 64;

/// A marker that counts as a unit of service when it ends (session/service_unit.hpp). A front end sends it
/// only to a worker with session::kMarks.
struct EnqueueMark {
  FAIRGV_CALL(EnqueueMark, 0x060A, void)
  Command command;
  std::string_view label;
  FAIRGV_FIELDS(command, label)
};

/// Takes a command's place among the others and does nothing: a launch of no work-items, a map of memory that
/// the front end may touch anyway. Never reaches the driver.
struct EnqueueNothing {
  FAIRGV_CALL(EnqueueNothing, 0x0512, void)
  Command command;
  FAIRGV_FIELDS(command)
};

/// The front end's own access to a buffer that lies in the arena. Never reaches the driver and needs no turn;
/// it depends on other commands as any command does. When these have ended, its slot says CL_RUNNING: the
/// front end may touch the buffer until it sends EndAccess.
struct EnqueueAccess {
  FAIRGV_CALL(EnqueueAccess, 0x0630, void)
  Command command;
  ObjectId buffer;
  FAIRGV_FIELDS(command, buffer)
};

/// Ends an access that was granted.
struct EndAccess {
  FAIRGV_CALL(EndAccess, 0x0631, void)
  EventId access;
  FAIRGV_FIELDS(access)
};

/// Work of the front end's that uses no buffer of the worker's: releasing shared virtual memory, copying
/// within the host's. Otherwise as an access, which EndAccess ends.
struct EnqueueHostWork {
  FAIRGV_CALL(EnqueueHostWork, 0x0638, void)
  Command command;
  FAIRGV_FIELDS(command)
};

using CommandCalls = TypeList<EnqueueMarker, EnqueueBarrier, EnqueueMark, EnqueueNothing, EnqueueAccess,
                              EndAccess, EnqueueHostWork>;

}  // namespace fairgv::wire
