// Notices: messages of the worker to the front end that answer no call, on the notice ring.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

struct EventReached {
  FAIRGV_CALL(EventReached, 0x0800, void)
  EventId event;
  std::int32_t watched = 0;  // the status that was asked for
  std::int32_t status = 0;   // the status that was reached
  FAIRGV_FIELDS(event, watched, status)
};

using AllNotices = TypeList<EventReached>;

}  // namespace fairgv::wire
