// The daemon's answer to a trace request: everything that was recorded since the previous request.
//
// A JSON object, a null character, and the turns, commands and calls as they lie in memory: both sides are on
// one machine, and there are so many that as text they would cost the traced programs more than all the rest.
// Times are CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/session/trace.hpp"

namespace fairgv::control {

struct TraceReport {
  struct Session {
    std::uint32_t session = 0;
    std::string tenant;
    std::int64_t pid = 0;
    std::string program;
  };
  struct Name {
    std::uint32_t session = 0;
    std::uint32_t number = 0;  // of the session
    std::string name;
  };
  struct Turn {
    std::uint32_t session = 0;
    std::uint32_t device = 0;
    std::uint64_t wanted_ns = 0;
    std::uint64_t granted_ns = 0;
    std::uint64_t ended_ns = 0;  // or when it was looked at, if it is not over
    std::uint64_t charged_ns = 0;
    std::uint64_t slice_ns = 0;      // 0: without an end
    std::uint64_t over = 1;          // 0: it comes again, longer
    std::uint64_t promised = 0;      // 1: it served a guarantee
    std::uint64_t in_flight_ns = 0;  // the most device time in flight, as predicted; 0: no bound
  };
  struct Command {
    std::uint32_t session = 0;
    std::uint32_t name = 0;  // 0: not told
    session::TracedCommand command{};
  };
  struct Call {
    std::uint32_t session = 0;
    std::uint32_t name = 0;  // 0: not told
    session::TracedCall call{};
  };
  struct Memory {
    std::string tenant;
    std::uint32_t device = 0;
    std::uint64_t bytes = 0;  // that it holds now
  };
  std::uint64_t now_ns = 0;
  std::vector<std::string> devices;  // names
  std::vector<Session> sessions;     // new in this trace
  std::vector<Name> names;           // the same
  std::vector<Turn> turns;
  std::vector<Command> commands;
  std::vector<Call> calls;
  std::vector<Memory> memory;
  // In this trace so far.
  std::uint64_t lost_commands = 0;  // and calls
  std::uint64_t lost_turns = 0;
};

std::string pack(const TraceReport& report);
/// Reads a report of this release's daemon: another release's rows may have another size, which is an error.
Result<TraceReport> unpack_trace_report(std::string_view packed);

}  // namespace fairgv::control
