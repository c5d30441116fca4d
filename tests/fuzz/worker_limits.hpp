// Calls that no input may make, although any client may: they may take long, take much memory, or run code of
// their own (a kernel on a CPU does).
#pragma once

#include <cstddef>
#include <span>

#include "runtime/wire/calls.hpp"

namespace fairgv::fuzz {

bool beyond_limits(wire::Opcode opcode, std::span<const std::byte> message);

}  // namespace fairgv::fuzz
