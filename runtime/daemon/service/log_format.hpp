// How a line of the daemon's log is written: when, how bad, what.
//
// Lines quote what users and their workers say: names of programs, tenants and kernels, reasons. Here, where
// every line passes, control characters and line breaks become '?' and a line that is too long is cut, so
// that nobody can write a line of his own into the log, or steer the terminal of whoever reads it.
#pragma once

#include <spdlog/formatter.h>

#include <cstddef>
#include <memory>

namespace fairgv::daemon {

inline constexpr std::size_t kLongestLogLine = 8'192;

/// For a sink or a logger.
std::unique_ptr<spdlog::formatter> make_log_formatter();

}  // namespace fairgv::daemon
