// Calls that no input may make, although any client may: they are allowed to take long, to take much memory,
// or to run code of their own (which on a CPU is what a kernel is).
#pragma once

#include <cstddef>
#include <span>

#include "runtime/wire/calls.hpp"

namespace fairgv::fuzz {

bool beyond_limits(wire::Opcode opcode, std::span<const std::byte> message);

}  // namespace fairgv::fuzz
