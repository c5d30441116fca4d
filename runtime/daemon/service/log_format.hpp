// The form of a line in the daemon's log: time, level, text.
//
// Lines quote users and their workers: names of programs, tenants and kernels, reasons. Here, where every
// line passes, control characters and line breaks become '?' and a line that is too long is cut, so that
// nobody can forge a line of the log, or steer the terminal of its reader.
#pragma once

#include <spdlog/formatter.h>

#include <cstddef>
#include <memory>

namespace fairgv::daemon {

inline constexpr std::size_t kLongestLogLine = 8'192;

/// For a sink or a logger.
std::unique_ptr<spdlog::formatter> make_log_formatter();

}  // namespace fairgv::daemon
