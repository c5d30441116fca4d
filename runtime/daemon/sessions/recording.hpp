// Whether a session's worker and its client record what they do (session/trace.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/ring/segment.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::daemon {

/// Records from now on, under this number. `device`: as the session's worker counts; none: all devices.
void start_recording(session::TurnPage& page, ring::SegmentHeader& header,
                     std::optional<std::uint32_t> device, std::uint32_t number);
void stop_recording(session::TurnPage& page, ring::SegmentHeader& header);

}  // namespace fairgv::daemon
