// Letting go of a session's memory file without waiting for it.
#pragma once

#include "runtime/base/handle.hpp"

namespace fairgv::daemon {

/// Closes the last descriptor of a memory file. Of a large one, which takes the system a fifth of a second
/// for each GiB, in a thread of its own.
void close_aside(UniqueFd file);

}  // namespace fairgv::daemon
