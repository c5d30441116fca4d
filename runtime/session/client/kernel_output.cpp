#include "runtime/session/client/kernel_output.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "runtime/base/write_all.hpp"

namespace fairgv::session {
bool KernelOutput::copy() {
  if (!pipe_) return false;
  std::array<char, 16384> piece;
  const std::lock_guard lock(mutex_);
  for (;;) {
    const ssize_t length = ::read(pipe_.get(), piece.data(), piece.size());
    if (length > 0) {
      write_all(STDOUT_FILENO, {piece.data(), static_cast<std::size_t>(length)});
    } else if (length == 0 || errno != EINTR) {
      return length < 0;
    }
  }
}

}  // namespace fairgv::session
