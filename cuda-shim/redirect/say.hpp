// One line on standard error, for the libraries that are loaded into other people's programs.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace fairgv::redirect {

/// Says the line, unless FAIRGV_LOG is "off".
inline void say(const std::string& line) {
  const char* const log = std::getenv("FAIRGV_LOG");
  if (log != nullptr && std::strcmp(log, "off") == 0) return;
  (void)::dprintf(STDERR_FILENO, "fairgv: %s\n", line.c_str());
}

}  // namespace fairgv::redirect
