// Text in a memory file: for messages that are too long for a packet, or that come before there is a socket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv {

/// A memory file with the text. `what` names it in error texts: "the long answer". It is closed at an exec
/// (close-on-exec).
Result<UniqueFd> memory_file(std::string_view text, const std::string& what);

/// All that is in such a file, whatever the file's position. An Error if it is longer than `longest` bytes.
Result<std::string> read_memory_file(int file, std::uint64_t longest, const std::string& what);

}  // namespace fairgv
