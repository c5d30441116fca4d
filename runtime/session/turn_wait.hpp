// Why a session's next command is not given to the driver: the worker says it in the turn page and in traces,
// and `fairgv ps --json` and `fairgv trace` show it. For people: nothing is decided by it.
#pragma once

#include <array>
#include <cstdint>

namespace fairgv::session {

enum class TurnWait : std::uint32_t {
  nothing,     // no command waits, or it goes to the driver
  turn,        // another session has the device, or is to have it
  asked_back,  // the turn is asked for, and commands are still under way
  sample,      // a command is measured by itself
  slice,       // the command does not fit into what is left of the turn
  in_flight,   // enough is under way
  program,     // commands wait for the program: a user event, or an access of its own to memory
  compiler,    // code is made for a command
  memory,      // memory that a command uses is not on the device yet
};

inline constexpr std::array<const char*, 9> kTurnWaitNames{
    "", "turn", "asked back", "sample", "slice", "in flight", "program", "compiler", "memory"};

/// The name of a value from a page or a record; empty if it is no reason.
constexpr const char* name_of_wait(std::uint32_t raw) {
  return raw < kTurnWaitNames.size() ? kTurnWaitNames[raw] : "";
}

}  // namespace fairgv::session
