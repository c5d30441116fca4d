// The names of calls for people, in traces.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/wire/calls/call.hpp"

namespace fairgv::wire {

/// The call in which a thread waits for a command, in ring::CompletionSlot::awaited_as: one of these, or the
/// cl_command_type of a command that blocks.
inline constexpr std::uint32_t kOwnCall = 0;  // the one that made the command
inline constexpr std::uint32_t kFinish = 1;
inline constexpr std::uint32_t kWaitForEvents = 2;

/// The name that a call of any API is declared with; "(unknown call)" if there is none.
std::string_view call_name(Opcode opcode);

/// The call that waits `as` for the event of a call `opcode`, by its name in its API, without cl or cu. Any
/// numbers may be given.
std::string_view wait_name(std::uint32_t as, Opcode opcode);

}  // namespace fairgv::wire
