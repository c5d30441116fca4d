// Writing to a file of the program's, whatever it is.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace fairgv {

/// Output that cannot be written is lost, as it is without FairGV.
inline void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace fairgv
