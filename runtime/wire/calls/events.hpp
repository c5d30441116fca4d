// Events. A command that names an event makes it.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

struct CreateUserEvent {
  FAIRGV_CALL(CreateUserEvent, 0x0700, void)
  EventId event;
  FAIRGV_FIELDS(event)
};

struct SetUserEventStatus {
  FAIRGV_CALL(SetUserEventStatus, 0x0701, void)
  EventId event;
  std::int32_t status = 0;  // CL_COMPLETE or negative
  FAIRGV_FIELDS(event, status)
};

/// The most notices that a front end may have asked for and not taken; a front end that asks for more breaks
/// the protocol.
inline constexpr std::uint64_t kMostNotices = std::uint64_t{1} << 20;

/// Asks for one EventReached notice when the event's status is `status` or lower (further on, or an error).
struct WatchEvent {
  FAIRGV_CALL(WatchEvent, 0x0702, void)
  EventId event;
  std::int32_t status = 0;
  FAIRGV_FIELDS(event, status)
};

/// The front end no longer looks at the event's slot; after this the worker no longer writes it.
struct ReleaseEvent {
  FAIRGV_CALL(ReleaseEvent, 0x0703, void)
  EventId event;
  FAIRGV_FIELDS(event)
};

using EventCalls = TypeList<CreateUserEvent, SetUserEventStatus, WatchEvent, ReleaseEvent>;

}  // namespace fairgv::wire
